import { expect, it } from 'vitest'
import { systemClock } from '../../../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../../../shared/adapters/node/system-random.ts'
import { createJsonLogger } from '../../../../shared/adapters/node/json-logger.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { startCoreWithRoles } from '../../../../shared/runtime/local/core-with-roles.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'

it('a start whose roles cannot be written leaves no engine running', async () => {
  const ports = openLocalPorts(':memory:', systemClock)
  const { store, feed } = ports
  const following: AbortSignal[] = []
  const started = startCoreWithRoles({
    ports: {
      ...ports,
      store: {
        ...store,
        create: async (stored) => {
          if (stored.object.kind !== 'ClusterRole') return store.create(stored)
          throw new OperatingError('UNAVAILABLE', 'the disk is full')
        },
      },
      feed: {
        ...feed,
        follow: (options) => {
          following.push(options.signal)
          return feed.follow(options)
        },
      },
    },
    controllers: [],
    authenticate: () => {},
    clock: systemClock,
    random: systemRandom,
    logger: createJsonLogger({ write: () => {}, clock: systemClock, level: 'error' }),
  })
  await expect(started).rejects.toThrow('the disk is full')
  expect(following.length).toBeGreaterThan(0)
  expect(following.every(({ aborted }) => aborted)).toBe(true)
  ports.close()
})
