import { dynamodbContract } from './dynamodb-contract.ts'
import { moto } from './moto.ts'

dynamodbContract(moto, {})
