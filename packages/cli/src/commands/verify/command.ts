import { isWebhookError, verify } from 'service-webhooks';
import { deliveryCommand, readDelivery } from '../../delivery-input.js';
import { EXIT } from '../../failure.js';
import { readSecrets } from '../../secrets.js';
import type { Session } from '../../session.js';

export function verifyCommand(session: Session) {
  return deliveryCommand('verify')
    .description('Verifies a delivery as the library does: signature, time, envelope.')
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks verify .webhooks/20260711T120000.000Z-7f3a9c01.http
  service-webhooks verify delivery.http --at signed            the time does not count
  service-webhooks verify body.json --headers headers.txt --secret file:secret.txt`,
    )
    .action(async (file, { secret: sources, ...options }) => {
      const secret = await readSecrets(session, sources);
      const { headers, body, at, asCaptured } = await readDelivery(session, file, options);
      const { headerPrefix, legacy, tolerance: toleranceSeconds } = options;
      try {
        const delivery = verify({ headers, body, secret, headerPrefix, legacy, toleranceSeconds, now: () => at });
        const { event, scheme, secretIndex, signedAt } = delivery;
        const signed = signedAt === undefined ? undefined : new Date(signedAt).toISOString();
        session.out.record(
          { kind: 'verified', scheme, secretIndex, signedAt: signed, id: event.id, type: event.type },
          [['good', 'verified'], scheme, event.type, event.id, signed && `signed ${signed}`],
        );
        session.exitCode = EXIT.ok;
      } catch (error) {
        if (!isWebhookError(error) || error.status >= 500) throw error;
        const { code, hint } = error;
        const message = error.problem;
        const time = { at: new Date(at).toISOString(), asCaptured };
        session.out.record({ kind: 'refused', code, message, hint, ...time }, [
          ['bad', code],
          message,
          hint,
          ['faint', 'More: npx service-webhooks-cli explain'],
        ]);
        session.exitCode = EXIT.no;
      }
    });
}
