import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const read = (path) => readFileSync(join(root, path), 'utf8');

/** The section that comes from no result. */
export const WIRE_TESTS = {
  title: 'Vectors and wire tests',
  command: 'npm test',
  intro: `What ordinary tests throw at the library, of its own and of others: they run with \`npm test\` and write no result.
How many it is, is counted in \`fixtures\` and in the tests when this page is made. JSONTestSuite is a package that stands
apart: its cases run where \`node test/integration/install.mjs\` has installed it, and are skipped elsewhere, with a
warning.`,
};

/** What ordinary tests throw at the library, and how many of it, counted in the files that the tests have it from. */
export function wireTests() {
  const facts = JSON.parse(read('fixtures/third-party.json'));
  const vectors = JSON.parse(read('fixtures/vectors.json'));
  const wycheproof = facts.filter(({ suite }) => suite.startsWith('wycheproof'));
  const rfc4231 = facts.filter(({ suite }) => suite === 'rfc4231');
  const others = facts.filter((fact) => !wycheproof.includes(fact) && !rfc4231.includes(fact));
  const suites = new Set(others.map(({ suite }) => suite));
  const macs = count(part('test/hmac.test.ts', 'const VECTORS', '];'), /'[0-9a-f]{64}'/g);
  const adapters = count(read('test/support/mounts.ts'), /^import \{ mounts as /gm);
  const refusals = count(part('test/http.test.ts', "it('the signature header and its time", '\n  });'), /'4\d\d \w+'/g);
  const [, senders] = /^const SLOW = (\d+);/m.exec(read('test/slow-clients.test.ts'));
  const inSuite = [...read('test/json-test-suite.test.ts').matchAll(/beginning\('.'\)\)\.toHaveLength\((\d+)\)/g)];
  return [
    ['Wycheproof, HMAC-SHA256, whole and cut to 128 bits: each MAC as a signature', wycheproof.length, 'third-party'],
    ['RFC 4231: each MAC as a signature', rfc4231.length, 'third-party'],
    ['RFC 4231: the whole MACs, by node:crypto and by WebCrypto', macs, 'hmac'],
    [
      `Facts from the tests of others, in ${suites.size} suites; the test says where the policy here is another`,
      others.length,
      'third-party',
    ],
    ['JSONTestSuite: each case as a signed body', sum(inSuite.map(([, cases]) => Number(cases))), 'json-test-suite'],
    ['Vectors of this library, through `verify` and `verifyAsync`', vectors.length, 'vectors'],
    [
      'The same over sockets, but for the few that HTTP changes, to apps that listen',
      `${adapters} adapters`,
      'vectors',
    ],
    ['Senders that trickle bytes; good deliveries beside them have to be answered', senders, 'slow-clients'],
    ['Refusals by the method and the headers alone, of requests whose body never comes', refusals, 'http'],
  ].map(([what, howMany, test]) => ({ what, howMany, test: `test/${test}.test.ts` }));
}

/** Of a file, from one text to the next of another. */
function part(path, from, to) {
  const text = read(path);
  const start = text.indexOf(from);
  return text.slice(start, text.indexOf(to, start));
}

const count = (text, pattern) => [...text.matchAll(pattern)].length;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
