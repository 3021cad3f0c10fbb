// Stands in for the host of Azure Functions and its worker: loads the app that is named, and calls its functions, as
// RPC messages, with what comes over HTTP. What is between those and the handler is the library's own.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , script] = process.argv;
const path = join(process.cwd(), script);
const functions = new Map();
let model;

/** What the worker offers to the library. */
const core = {
  version: '3.11.0',
  setProgrammingModel: (given) => {
    model = given;
  },
  registerFunction: (metadata, callback) => functions.set(metadata.name, { metadata, callback }),
  log: () => {},
};
const Module = createRequire(path)('node:module');
const { _load: load } = Module;
Module._load = (request, ...rest) => (request === '@azure/functions-core' ? core : load(request, ...rest));

await import(pathToFileURL(path).href);
await model.getCapabilities({});

createServer(async (req, res) => {
  const { metadata, callback } =
    [...functions.values()].find(({ metadata }) => `/api/${routeOf(metadata)}` === req.url) ?? {};
  if (metadata === undefined) return res.writeHead(404).end();
  const [name, { methods }] = Object.entries(metadata.bindings)[0];
  if (!methods.includes(req.method)) return res.writeHead(404).end();
  const bytes = Buffer.concat(await req.toArray());
  const http = { method: req.method, url: `http://127.0.0.1${req.url}`, headers: req.headers, body: { bytes } };
  const invocation = model.getInvocationModel({
    invocationId: crypto.randomUUID(),
    metadata,
    request: { inputData: [{ name, data: { http } }], triggerMetadata: {} },
    log: (_level, _category, text) => console.log(text),
  });
  const { context, inputs } = await invocation.getArguments();
  const result = await invocation.invokeFunction(context, inputs, callback);
  const { returnValue } = await invocation.getResponse(context, result);
  const { statusCode, headers, body } = returnValue.http;
  res.writeHead(Number(statusCode), headers).end(body.bytes ?? body.string);
}).listen(Number(process.env.PORT), '127.0.0.1');

/** The path of a function below /api. */
function routeOf({ name, bindings }) {
  return Object.values(bindings)[0].route ?? name;
}
