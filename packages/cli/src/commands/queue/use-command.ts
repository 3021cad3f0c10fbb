import { readFile, writeFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { EXIT, Failure, fileFailure } from '../../failure.js';
import { CONFIG_FILE, type QueueSettings } from '../../project-config.js';
import { USUAL_KEYS } from '../../queues/queue-bodies.js';
import { placeOf, redactedFields, withQueue, withShownQueueOptions } from '../../queues/queue-options.js';
import type { Session } from '../../session.js';

export function useCommand(session: Session) {
  const command = new Command('use').summary(`name the queue once: written to ${CONFIG_FILE} of this directory`);
  return withShownQueueOptions(command).action(async (options) => {
    const { engine, at, decrypt, ...names } = placeOf(session, options);
    if (at === '-') throw new Failure('usage', 'stdin cannot be read again: name the URL with env:NAME or file:PATH.');
    if (decrypt === '-')
      throw new Failure('usage', 'stdin cannot be read again: name the keys with env:NAME or file:PATH.');
    const { name, dead } = await withQueue(session, options, async ({ queue }) => {
      const { dead } = await queue.stats();
      return { name: queue.name, dead };
    });
    const settings = {
      engine: engine.name,
      ...(at !== true && { at: String(at) }),
      ...names,
      queue: names.queue ?? name,
      decrypt: decrypt === true ? USUAL_KEYS : decrypt,
      redact: redactedFields(session, options)?.join(','),
    };
    await writeSettings(JSON.parse(JSON.stringify(settings)));
    session.out.record({ kind: 'used', ...settings, dead }, [
      ['good', 'used'],
      `${engine.name} ${name}`,
      `${dead} dead`,
      ['faint', `The other queue commands need no options in this directory.`],
    ]);
    session.exitCode = EXIT.ok;
  });
}

/** Keeps the other settings of the file, which was read when the program started. */
async function writeSettings(queue: QueueSettings): Promise<void> {
  const text = await readFile(CONFIG_FILE, 'utf8').catch(() => '{}');
  const config = { ...JSON.parse(text), queue };
  await writeFile(CONFIG_FILE, `${JSON.stringify(config, null, 2)}\n`).catch((error) => {
    throw fileFailure(CONFIG_FILE, error);
  });
}
