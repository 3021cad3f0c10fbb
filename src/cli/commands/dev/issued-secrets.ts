/** The signing secrets of this run. The emulator shows each one once, as the service does. */
export interface IssuedSecrets {
  set(endpointId: string, secret: string): void;
  of(endpointId: string): string | undefined;
  all(): Iterable<string>;
  /** Returns the API, and records the secrets of endpoints that are created through it. */
  watching(api: Api): Api;
}

type Api = (request: Request) => Promise<Response>;

export function createIssuedSecrets(): IssuedSecrets {
  const secrets = new Map<string, string>();
  return {
    set: (id, secret) => void secrets.set(id, secret),
    of: (id) => secrets.get(id),
    all: () => secrets.values(),
    watching: (api) => async (request) => {
      const response = await api(request);
      if (request.method !== 'POST' || response.status !== 201) return response;
      const created = await response
        .clone()
        .json()
        .catch(() => undefined);
      const { id, signing_secret: secret } = Object(created);
      if (typeof id === 'string' && typeof secret === 'string') secrets.set(id, secret);
      return response;
    },
  };
}
