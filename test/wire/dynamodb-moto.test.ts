import { dynamodbContract } from './dynamodb-contract.ts'
import { moto } from './moto.ts'

// Seen with a bare client: of 64 writers that count one number up under the condition that nobody else did, 115 were told that they
// had, and it stood at 110.
const unlocked = 'moto reads, checks the condition and writes in a thread of each request, without a lock'

dynamodbContract(moto, {
  'lets one of many creators of a name win': unlocked,
  'lets one of 64 writers of a version win, until all have written': unlocked,
})
