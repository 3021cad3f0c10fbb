/** Requests to the page of a queue, as a browser sends them that has it open. */
export function browseQueue(url: string) {
  const { origin } = new URL(url);
  return {
    async read<Found>(path: string): Promise<Found> {
      return (await (await fetch(new URL(`/page/queue/${path}`, url))).json()) as Found;
    },
    async post(name: string, input: object): Promise<unknown> {
      const token = /name="page-token" content="([\w-]+)"/.exec(await (await fetch(url)).text())?.[1] ?? '';
      const headers = { origin, 'x-page-token': token, 'content-type': 'application/json' };
      const body = JSON.stringify(input);
      return (await fetch(new URL(`/page/queue/${name}`, url), { method: 'POST', headers, body })).json();
    },
  };
}
