import type { Verdict as VerdictOf } from '../page-source.js';

/** Whether the signature holds, and why not. */
export function Verdict({ verdict: { verdict, causes } }: { verdict: VerdictOf }) {
  if (verdict === 'unverified') return <p class="verdict">Not verified: its secret is not known here.</p>;
  if (verdict === 'accepted') return <p class="verdict acknowledged">The signature holds.</p>;
  return (
    <div class="verdict failed">
      <p>
        It does not verify: <code>{verdict}</code>
      </p>
      <ul>
        {causes.map(({ cause, certainty, evidence, fix }) => (
          <li key={cause}>
            <strong>{cause}</strong> ({certainty}): {evidence} {fix}
          </li>
        ))}
      </ul>
    </div>
  );
}
