import type { StreamChange } from '../adapters/aws/dynamodb-stream.ts'
import type { AwsBoundary } from './aws-boundary.ts'

export function openPublish(_boundary: AwsBoundary): (changes: readonly StreamChange[]) => Promise<void> {
  return async () => {}
}
