import type { DynamoDB, DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { DynamodbClient, DynamodbInbox, DynamodbInboxOptions } from 'service-webhooks/stores/dynamodb';
import { describe, expectTypeOf, it } from 'vitest';

describe('DynamodbClient', () => {
  it('is a client of the SDK under its name', () => {
    expectTypeOf<{ dynamodb: DynamoDBClient }>().toExtend<DynamodbClient>();
    expectTypeOf<{ dynamodb: DynamoDB }>().toExtend<DynamodbClient>();
    expectTypeOf<DynamoDBClient>().not.toExtend<DynamodbClient>();
    expectTypeOf<{ dynamodb: string }>().not.toExtend<DynamodbClient>();
  });
});

describe('DynamodbInbox', () => {
  it('takes the writes of the SDK, and no option to wait', () => {
    expectTypeOf<TransactWriteItem[]>().toExtend<Parameters<DynamodbInbox['once']>[1]>();
    expectTypeOf<ReturnType<DynamodbInbox['once']>>().toEqualTypeOf<Promise<{ status: 'done' | 'duplicate' }>>();
    expectTypeOf<DynamodbInboxOptions>().not.toHaveProperty('waitMs');
  });
});
