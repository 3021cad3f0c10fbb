import { explain } from 'service-webhooks-cli/explain';
import { createEmulator } from 'service-webhooks-emulator';
import { storeSuite } from 'service-webhooks-suites';

// Mistakes that the types of the packages are there to find. Each has its mark in front.
export async function mistakes() {
  const emulator = createEmulator({ /* wrong */ clock: 1 });
  const /* wrong */ seed: number = emulator.seed;
  await emulator.sendTest('endpoint_1', /* wrong */ 'a.later.type');
  const { verdict } = explain({ headers: {}, body: '', secret: 'whsec_1' });
  if (verdict === 'accepted') return seed;
  const /* wrong */ code: number = verdict;
  storeSuite({ make: () => ({ /* wrong */ store: {} }) });
  return code;
}
