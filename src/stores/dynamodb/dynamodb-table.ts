import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { check, checkKnownOptions } from '../../option-checks.js';
import { LISTS } from './item.js';

/**
 * Returns the input of a `CreateTableCommand` for the table of a store and an inbox, for tests and local development. In
 * production, define the table where you define your functions: `docs/stores.md` has it for CDK, SAM and Terraform.
 *
 * DynamoDB removes expired items where you switch on time to live for the attribute `removeAt`. Without it everything works,
 * and the table grows.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * await client.send(new CreateTableCommand(dynamodbTable({ table: 'webhook_deliveries' })));
 */
export function dynamodbTable(options: { table?: string | undefined } = {}): CreateTableCommandInput {
  checkKnownOptions('dynamodbTable', options, ['table']);
  const { table = 'webhook_deliveries' } = options;
  checkTable(table);
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'listName', 'orderKey'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: LISTS,
        KeySchema: [
          { AttributeName: 'listName', KeyType: 'HASH' },
          { AttributeName: 'orderKey', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  };
}

/** A name of 3 to 255 letters, digits, `_`, `-` and `.`, or an ARN, which has colons and a slash. */
const TABLE = /^[\w.:/-]{3,1024}$/;

/** @throws WebhookError `invalid_option` */
export function checkTable(table: unknown): void {
  const isTable = typeof table === 'string' && TABLE.test(table);
  check(isTable, "table must be the name or the ARN of a table, such as 'webhook_deliveries'");
}
