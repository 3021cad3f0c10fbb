import type { Verdict as VerdictOf } from '../page-source.js';

/** Shows whether the signature is valid, and the causes if not. */
export function Verdict({ verdict: { verdict, causes } }: { verdict: VerdictOf }) {
  if (verdict === 'unverified')
    return <p class="verdict">Not verified: the secret of this endpoint is not known here.</p>;
  if (verdict === 'accepted') return <p class="verdict acknowledged">The signature is valid.</p>;
  return (
    <div class="verdict failed">
      <p>
        Verification fails: <code>{verdict}</code>
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
