import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';

export const schemasDirectory = fileURLToPath(new URL('../../schemas/', import.meta.url));

export const eventSchema = readJson('event.json');
export const openapi = readJson('openapi.json');

const ajv = new Ajv2020({ strictTypes: false, allErrors: true });
ajv.addSchema(eventSchema, 'event.json');
// Its vocabulary is OpenAPI's: of the document itself only the schemas are for this validator.
ajv.addVocabulary(Object.keys(openapi));
ajv.addSchema(openapi, 'openapi.json');

/** Whether a value fits a schema, given by its place: `event.json#/$defs/stt.failed`. */
export function fits(place: string, value: unknown): boolean {
  const validate = ajv.getSchema(place);
  if (validate === undefined) throw new Error(`no schema at ${place}`);
  return validate(value) === true;
}

function readJson(name: string): AnySchemaObject {
  return JSON.parse(readFileSync(`${schemasDirectory}${name}`, 'utf8'));
}
