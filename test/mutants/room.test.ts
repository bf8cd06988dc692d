import { expect, it } from 'vitest'
import { isNear, roomOf } from './room.ts'

it.each([
  ['shared/model/schema/options.ts', 'model'],
  ['shared/engine/state/turn.ts', 'engine/state'],
  ['shared/adapters/local/queue/heap.ts', 'adapters/local'],
  ['shared/runtime/aws/resync.ts', 'runtime/aws'],
])('%s is in the room %s', (path, room) => {
  expect(roomOf(path)).toBe(room)
})

it.each([
  ['test/unit/engine/state/turn.test.ts', 'shared/engine/state/turn.ts', true],
  ['test/unit/engine/turn/run.test.ts', 'shared/engine/state/turn.ts', false],
  ['test/contract/work-queue.local.test.ts', 'shared/adapters/local/queue/heap.ts', true],
  ['test/contract/sqlite-durability.test.ts', 'shared/adapters/local/sqlite/group-commit.ts', true],
  ['test/contract/object-store.dynamodb.test.ts', 'shared/adapters/local/sqlite/sqlite-list.ts', false],
  ['test/contract/work-queue.sqs.test.ts', 'shared/adapters/local/queue/heap.ts', false],
  ['test/contract/work-queue.sqs.test.ts', 'shared/adapters/aws/sqs/sqs-work-queue.ts', true],
  ['test/contract/object-store.sqlite.test.ts', 'shared/adapters/aws/dynamodb/dynamodb-store.ts', false],
  ['test/contract/object-store.dynamodb.test.ts', 'shared/runtime/aws/resync.ts', false],
  ['test/unit/runtime/aws/resync.test.ts', 'shared/runtime/aws/resync.ts', true],
  ['test/unit/runtime/local/backup.test.ts', 'shared/runtime/aws/resync.ts', false],
  ['test/aws/api.test.ts', 'shared/runtime/aws/resync.ts', true],
  ['test/aws/api.test.ts', 'shared/adapters/aws/lambda-http.ts', false],
  ['test/contract/work-queue.local.test.ts', 'shared/model/wheel.ts', false],
])('%s is near %s: %s', (test, source, near) => {
  expect(isNear(test, source)).toBe(near)
})
