import { useState } from 'preact/hooks';
import type { BodyView } from '../page-source.js';
import { counted } from './format.js';

/** A body as text, and nothing but text. */
export function Body({ body, of }: { body: BodyView; of: string }) {
  const [indent, setIndent] = useState(false);
  const { text, bytes, shown, cut } = body;
  const indented = shown === 'text' && !cut ? indentedJson(text) : undefined;
  if (bytes === 0) return <p class="note">No body.</p>;
  return (
    <div class="body">
      <p class="note">
        {counted(bytes, 'byte')}
        {shown === 'hex' && ', which are not UTF-8: in hex'}
        {cut && ', of which this is the beginning'}
        {indented !== undefined && (
          <label>
            <input type="checkbox" checked={indent} onChange={(event) => setIndent(event.currentTarget.checked)} />
            indented
          </label>
        )}
      </p>
      <textarea readOnly aria-label={`Body of the ${of}`} value={indent ? (indented ?? text) : text} />
    </div>
  );
}

/** Undefined where it is no JSON, and where more than white space would change: numbers may be too long, names twice. */
function indentedJson(text: string): string | undefined {
  try {
    const indented = JSON.stringify(JSON.parse(text), null, 2);
    return withoutSpace(indented) === withoutSpace(text) ? indented : undefined;
  } catch {
    return undefined;
  }
}

/** JSON without the white space between its tokens. */
function withoutSpace(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}
