import type { Header } from '../page-source.js';

export function Headers({ headers, of }: { headers: readonly Header[]; of: string }) {
  return (
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
  );
}
