import { type Client, type CreatedEndpoint, endpointsIn } from '../../../client/index.js';
import { newSecretFile } from './new-secret-file.js';

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
