import { useState } from 'preact/hooks';
import type { BodyView, Header } from '../page-source.js';
import { counted } from './format.js';

/** Shows a body as text, without interpreting it. */
export function Body({ body, of }: { body: BodyView; of: string }) {
  const [indent, setIndent] = useState(true);
  const { text, bytes, shown, cut } = body;
  const indented = shown === 'text' && !cut ? indentedJson(text) : undefined;
  if (bytes === 0) return <p class="note">No body.</p>;
  return (
    <div class="body">
      <p class="note">
        {counted(bytes, 'byte')}
        {shown === 'hex' && ', not UTF-8: shown in hex'}
        {cut && ': only the beginning is shown'}
        {indented !== undefined && (
          <label>
            <input type="checkbox" checked={indent} onChange={(event) => setIndent(event.currentTarget.checked)} />
            indented
          </label>
        )}
      </p>
      <textarea
        readOnly
        aria-label={`Body of the ${of}`}
        value={indent ? (indented ?? text) : text}
        spellcheck={false}
      />
    </div>
  );
}

/** Folded: they are read when something about them is wrong. */
export function Headers({ headers, of }: { headers: readonly Header[]; of: string }) {
  if (headers.length === 0) return <p class="note">No headers.</p>;
  return (
    <details>
      <summary>{counted(headers.length, 'header')}</summary>
      <HeaderTable headers={headers} label={`Headers of the ${of}`} />
    </details>
  );
}

export function HeaderTable({ headers, label }: { headers: readonly Header[]; label: string }) {
  return (
    <table class="headers" aria-label={label}>
      <tbody>
        {headers.map(([name, value], at) => (
          <tr key={at}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * Returns undefined where it is not JSON, and where more than white space would change, such as long numbers or
 * repeated names.
 */
export function indentedJson(text: string): string | undefined {
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
