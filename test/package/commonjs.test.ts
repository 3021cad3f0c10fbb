import { describe, expect, it } from 'vitest';
import { type Consumer, isInstalled, makeConsumer, makeWorkshop, OPTIONS_OF_NEST, program } from './consumer.js';

const typescript = 'node_modules/typescript5/bin/tsc';

describe.skipIf(!isInstalled('consumers'))('Jest on CommonJS', () => {
  it('the receiver handles a signed delivery, and the matchers of the test kit work', () => {
    const consumer = makeConsumer({ 'receiver.test.js': program('receiver.test.js') }, 'consumers');
    const { told, output, tests } = runJest(consumer);
    expect(told, output).toEqual([
      'passed: the package is CommonJS here',
      'passed: a signed delivery is handled once',
      'passed: a changed delivery is refused',
      'failed: a matcher that does not hold says what the answer is',
    ]);
    expect(tests.at(-1)?.failureMessages.join()).toContain(
      'expected the answer to refuse the delivery with signature_mismatch, and it is: 200',
    );
  });

  it('the emulator sends a refused delivery again until it is acknowledged', () => {
    const workshop = makeWorkshop({ 'emulator.test.js': program('emulator.test.js') }, 'consumers');
    const { told, output } = runJest(workshop);
    expect(told, output).toEqual([
      'passed: the emulator is CommonJS here',
      'passed: a refused delivery is repeated until it is acknowledged',
    ]);
  });
});

function runJest(consumer: Consumer) {
  const jest = ['node_modules/jest/bin/jest.js', '--json', '--outputFile=results.json', '--watchman=false'];
  const { output } = consumer.attempt(jest);
  const { testResults }: { testResults: { assertionResults: Assertion[] }[] } = JSON.parse(
    consumer.read('results.json'),
  );
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return { tests, told: tests.map(({ title, status }) => `${status}: ${title}`), output };
}

interface Assertion {
  title: string;
  status: string;
  failureMessages: string[];
}

describe.each(['nest-11', 'nest-12'] as const)('%s on CommonJS', (nest) => {
  it.skipIf(!isInstalled(nest) || !isInstalled('consumers'))(
    'an endpoint and an interceptor compile and handle deliveries',
    () => {
      const consumer = makeConsumer(
        {
          'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS_OF_NEST, files: ['nest.ts'] }),
          'nest.ts': program('nest.ts'),
        },
        nest,
        'consumers',
      );
      expect(consumer.attempt([typescript, '-p', '.'])).toEqual({ status: 0, output: '' });
      expect(consumer.read('nest.js')).toContain('require("service-webhooks/nest")');
      expect(JSON.parse(consumer.node(['nest.js']))).toEqual({
        loaded: ['index.cjs', 'nest.cjs'],
        '/endpoint': ['200 handled', '200 duplicate', '401 signature_mismatch'],
        '/intercepted': ['200 stt.completed', '200 duplicate', '401 signature_mismatch'],
        handled: 2,
      });
    },
  );
});
