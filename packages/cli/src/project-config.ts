import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { nearestName } from 'service-webhooks/option-checks';
import { Failure, fileFailure } from './failure.js';
import { shortened } from './output.js';

/** The common settings of the commands in one project: `service-webhooks.json`. It never contains the secret itself. */
export interface ProjectConfig {
  /** The prefix of the header names. */
  headerPrefix?: string;
  /** The path of the endpoint, for an app that is given as a port. */
  path?: string;
  /** The environment variable that has the signing secret. */
  secretVariable?: string;
  /** The address of the service's API. */
  baseUrl?: string;
  /** The queue of the project, as `queue use` writes it. */
  queue?: QueueSettings;
  /** The store in which the app keeps its jobs. */
  jobs?: JobsSettings;
}

/** Where the queue of a project is. A URL with a password is named, `env:REDIS_URL`, and never written. */
export interface QueueSettings {
  /** The engine: sqlite, bullmq, pg-boss, graphile-worker, rabbitmq or nats. */
  engine: string;
  /** The file or the URL, or where the URL is. Default: the usual variable of the engine. */
  at?: string;
  queue?: string;
  schema?: string;
  table?: string;
  prefix?: string;
  /** The source of the keys of encrypted bodies, and never a key. */
  decrypt?: string;
  /** The path of the module that has bodies which are kept outside. */
  overflow?: string;
  /** The fields of bodies that no command and no page shows, with commas. */
  redact?: string;
}

/** Where the jobs of a project are, in the same notation. */
export interface JobsSettings {
  /** The engine: sqlite, redis, postgres or mysql. */
  engine: string;
  /** The file or the URL, or where the URL is. Default: the usual variable of the engine. */
  at?: string;
  /** The table of the store. */
  table?: string;
  /** The beginning of its keys in Redis. */
  prefix?: string;
}

/** A project's settings and environment, and their sources. */
export interface Project {
  config: ProjectConfig;
  env: Readonly<Record<string, string | undefined>>;
  /** The file of each variable in `env` whose value comes from one. */
  fileOf: ReadonlyMap<string, string>;
  /** A line for each file that was read: its settings, but only the names in `.env`. */
  sources: readonly string[];
}

export const CONFIG_FILE = 'service-webhooks.json';
const ENV_FILE = '.env';
/** Where Next and Wrangler read the variables of an app on this machine, in the place of those of `.env`. */
const LOCAL_FILES = ['.env.local', '.dev.vars'];

const FORMS: Readonly<Record<Exclude<keyof ProjectConfig, PlaceSetting>, { test: RegExp; example: string }>> = {
  headerPrefix: { test: /^[a-z0-9]+(-[a-z0-9]+)*$/i, example: 'x-service' },
  path: { test: /^\/\S*$/, example: '/webhooks' },
  secretVariable: { test: /^[A-Za-z_]\w*$/, example: 'WEBHOOK_SECRET' },
  baseUrl: { test: /^https?:\/\/\S+$/, example: 'https://api.example.com' },
};
/** The settings that are objects, with the names in them. */
const PLACES = {
  queue: {
    names: [
      'engine',
      'at',
      'queue',
      'schema',
      'table',
      'prefix',
      'decrypt',
      'overflow',
      'redact',
    ] satisfies (keyof QueueSettings)[],
    mustBe: `what 'queue use' writes: { "engine": "sqlite", "at": "webhooks.db" }`,
  },
  jobs: {
    names: ['engine', 'at', 'table', 'prefix'] satisfies (keyof JobsSettings)[],
    mustBe: `like { "engine": "sqlite", "at": "webhooks.db" }`,
  },
};
type PlaceSetting = keyof typeof PLACES;

/** Reads the files of the current directory. A variable of the environment overrides `.env`. @throws Failure */
export async function readProject(env: Project['env']): Promise<Project> {
  const configText = await readIfThere(CONFIG_FILE);
  const config = configText === undefined ? {} : parseConfig(configText);
  const sources: string[] = [];
  const settings = Object.entries(config).map(([name, value]) => `${name} ${value.engine ?? value}`);
  if (configText !== undefined) sources.push(`${CONFIG_FILE}: ${settings.join(', ') || 'nothing set'}`);
  const found: Record<string, string | undefined> = {};
  const fileOf = new Map<string, string>();
  for (const file of [ENV_FILE, ...LOCAL_FILES]) {
    const text = await readIfThere(file);
    if (text === undefined) continue;
    const variables = file === ENV_FILE ? parseEnv(text) : secretOf(text, config);
    sources.push(`${file}: ${namesOf(variables)}`);
    Object.assign(found, variables);
    for (const name of Object.keys(variables)) if (env[name] === undefined) fileOf.set(name, file);
  }
  return { config, env: { ...found, ...env }, fileOf, sources };
}

const namesOf = (variables: object) => Object.keys(variables).join(', ') || 'nothing set';

/** Returns the signing secret alone: the other variables are for the app. */
function secretOf(text: string, { secretVariable = 'WEBHOOK_SECRET' }: ProjectConfig): Project['env'] {
  const value = (parseEnv(text) as Project['env'])[secretVariable];
  return value === undefined ? {} : { [secretVariable]: value };
}

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw fileFailure(file, error);
  });
}

function parseConfig(text: string): ProjectConfig {
  const fail = (problem: string): never => {
    throw new Failure('file', `${CONFIG_FILE}: ${problem}`);
  };
  const value = parseJson(text) ?? fail('it is no JSON object.');
  const names = Object.keys(FORMS) as (keyof typeof FORMS)[];
  for (const [name, setting] of Object.entries(value)) {
    if (isPlaceSetting(name)) {
      const { names: inside, mustBe } = PLACES[name];
      if (!isPlace(setting, inside)) fail(`${name} must be ${mustBe}.`);
      continue;
    }
    const known = names.find((one) => one === name);
    if (known === undefined) {
      if (/secret/i.test(name)) fail('the secret does not belong here: name its variable in secretVariable.');
      const nearest = nearestName(name, [...names, ...Object.keys(PLACES)]);
      const advice = nearest ? `did you mean ${nearest}?` : `it takes ${names.join(', ')}, queue and jobs.`;
      fail(`unknown setting ${shortened(name, 40)}: ${advice}`);
    } else if (typeof setting !== 'string' || !FORMS[known].test.test(setting)) {
      fail(`${known} must be text like ${FORMS[known].example}.`);
    }
  }
  return value;
}

function isPlaceSetting(name: string): name is PlaceSetting {
  return Object.hasOwn(PLACES, name);
}

function isPlace(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || !('engine' in value)) return false;
  return Object.entries(value).every(
    ([name, setting]) => names.includes(name) && typeof setting === 'string' && setting !== '',
  );
}

function parseJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return undefined;
}
