import type { Header } from '../page-source.js';
import { counted } from './format.js';

/** Folded: they are read when something about them is wrong. */
export function Headers({ headers, of }: { headers: readonly Header[]; of: string }) {
  if (headers.length === 0) return <p class="note">No headers.</p>;
  return (
    <details>
      <summary>{counted(headers.length, 'header')}</summary>
      <table class="headers" aria-label={`Headers of the ${of}`}>
        <tbody>
          {headers.map(([name, value], at) => (
            <tr key={at}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
