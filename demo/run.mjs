// `npm run demo`: a receiver on loopback and a sender beside it, over real HTTP. With `-- --serve` a receiver stays up.
import { deliveries } from './deliveries.mjs';
import { listen } from './loopback.mjs';
import { createApp, createMisbuiltApp } from './receiver.mjs';
import { send } from './sender.mjs';
import { serve } from './serve.mjs';
import { table } from './table.mjs';

const secret = 'the-signing-secret-of-the-demo';
// Stands still unless a row says otherwise, so that 300 s and 301 s are exact.
let time = Math.floor(Date.now() / 1000) * 1000;
const now = () => time;
const runs = [];

const setup = { secret, now, ran: (event) => runs.push(event.id) };
const servers = { app: await listen(createApp(setup)), misbuilt: await listen(createMisbuiltApp(setup)) };
const groups = [];
for (const { title, rows } of deliveries({ secret, now })) {
  const played = [];
  for (const row of rows) played.push(await play(row));
  groups.push({ title, rows: played });
}
for (const server of Object.values(servers)) server.close();

const rows = groups.flatMap((group) => group.rows);
const good = rows.filter((row) => row.asExpected);
process.exitCode = good.length === rows.length ? 0 : 1;
console.log(table(groups, { colour: process.stdout.isTTY && !process.env.NO_COLOR }));
console.log(`\n${good.length} of ${rows.length} as expected.`);
// npm keeps the flag for itself where its `--` was forgotten.
if (process.argv.includes('--serve') || process.env.npm_config_serve) await serve(secret);

/** Sends one row and sets what came back beside what was expected. */
async function play({ sent, app = 'app', path = '/webhooks', after = 0, make, expect, why }) {
  time += after * 1000;
  const runsBefore = runs.length;
  const answer = await send(servers[app].address + path, make()).catch((error) => `no answer: ${error.message}`);
  const ran = runs.length > runsBefore;
  return {
    asExpected: answer === expect.answer && ran === expect.ran,
    expected: `${expect.answer}, handler ${inWords(expect.ran)}`,
    cells: [sent, answer, inWords(ran), why],
  };
}

function inWords(ran) {
  return ran ? 'ran' : 'not run';
}
