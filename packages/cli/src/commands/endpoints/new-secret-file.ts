import { open, unlink } from 'node:fs/promises';
import { type Client, type CreatedEndpoint, endpointsIn, type SigningSecret } from 'service-webhooks/client';
import { Failure, fileFailure } from '../../failure.js';

/** The client, which makes an endpoint only where its secret can be kept. */
export function keepingSecrets({ webhooks }: Client, file: string | undefined): Pick<Client, 'webhooks'> {
  return {
    webhooks: {
      ...webhooks,
      async create(endpoint, options) {
        const secretFile = await newSecretFile(file);
        let created: CreatedEndpoint | undefined;
        try {
          created = await webhooks.create(endpoint, options);
          await secretFile.write(created.signingSecret);
          return created;
        } catch (error) {
          await secretFile.discard();
          // Its secret would be lost.
          for (const { id } of endpointsIn(created?.data)) await webhooks.delete(id, options);
          throw error;
        }
      },
    },
  };
}

/** A file that is created before the service shows a signing secret, so that the secret cannot be lost. */
interface NewSecretFile {
  write(secret: SigningSecret): Promise<void>;
  /** Removes the file, because there is no secret to keep. */
  discard(): Promise<void>;
}

/** Creates a file that only its owner can read. @throws Failure where no file is named, or where it exists */
export async function newSecretFile(path: string | undefined): Promise<NewSecretFile> {
  if (path === undefined) {
    throw new Failure(
      'usage',
      'the service shows the signing secret this once: say where to keep it, --save-secret FILE.',
    );
  }
  const failed = (error: unknown) => fileFailure(path, error);
  const file = await open(path, 'wx', 0o600).catch((error) => Promise.reject(failed(error)));
  return {
    async write(secret) {
      try {
        await file.writeFile(`${secret.reveal()}\n`);
        await file.sync();
      } catch (error) {
        throw failed(error);
      } finally {
        await file.close();
      }
    },
    async discard() {
      await file.close();
      await unlink(path).catch(() => {});
    },
  };
}
