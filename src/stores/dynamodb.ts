export type { DynamodbClient, DynamodbSender } from './dynamodb/client.js';
export { type DynamodbInbox, type DynamodbInboxOptions, dynamodbInbox } from './dynamodb/dynamodb-inbox.js';
export { type DynamodbStoreOptions, dynamodbStore } from './dynamodb/dynamodb-store.js';
export { dynamodbTable } from './dynamodb/dynamodb-table.js';
