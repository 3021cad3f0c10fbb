import type { Shape } from './shape.js';
import { shapeOfSchema } from './shape-of-schema.js';

/** Infers the shape of values from their JSON texts. The library is large, so it is loaded here and not at the start. */
export async function inferShape(samples: readonly string[]): Promise<Shape> {
  const { InputData, jsonInputForTargetLanguage, quicktype } = await import('quicktype-core');
  const input = jsonInputForTargetLanguage('schema');
  await input.addSource({ name: 'Data', samples: [...samples] });
  const inputData = new InputData();
  inputData.addInput(input);
  const { lines } = await quicktype({
    inputData,
    lang: 'schema',
    inferDateTimes: true,
    inferEnums: false,
    inferMaps: false,
    inferIntegerStrings: false,
    inferBooleanStrings: false,
    inferUuids: false,
    combineClasses: false,
    ignoreJsonRefs: true,
  });
  return shapeOfSchema(JSON.parse(lines.join('\n')));
}
