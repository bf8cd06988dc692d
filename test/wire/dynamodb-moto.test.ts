import { dynamodbContract } from './dynamodb-contract.ts'
import { moto } from './moto.ts'

dynamodbContract(moto, {
  'leaves room for what the engine writes for itself, of one that is full':
    'moto refuses to update an item of 354 KiB; DynamoDB takes up to 400',
})
