import type { ApiServices } from '../../../shared/api/call.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ObjectMeta } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { Resources } from '../../../shared/resources/resources.ts'
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts'

/** Services whose verbs answer what a test says, and note what they are asked. */
export interface FakeServices extends ApiServices {
  readonly clock: VirtualClock
  readonly asked: readonly (readonly unknown[])[]
}

type Answers = { readonly [Verb in keyof Resources]?: (...asked: Parameters<Resources[Verb]>) => unknown }

export function fakeServices(answers: Answers, more: Partial<ApiServices> = {}): FakeServices {
  const asked: unknown[][] = []
  const verb =
    (name: keyof Resources) =>
    async (...parts: unknown[]) => {
      asked.push([name, ...parts])
      const answer = answers[name] as ((...parts: unknown[]) => unknown) | undefined
      if (answer === undefined) throw new Error(`nobody has to ask for ${name}`)
      return answer(...parts)
    }
  const names = ['get', 'list', 'create', 'update', 'patch', 'delete'] as const
  const resources = Object.fromEntries(names.map((name) => [name, verb(name)])) as unknown as Resources
  const feed = { latest: async () => '100', follow: () => [] }
  const policies = { mutate: (): undefined => {}, review: (): undefined => {} }
  const services = { resources, clock: createVirtualClock(), feed, policies, asked, ...more }
  return services as unknown as FakeServices
}

/** An object as it is kept, of the kind `g.dev/v1 K` if nothing else is said. */
export function storedOf(metadata: Partial<ObjectMeta>, more: JsonObject = {}): StoredObject {
  const meta = { name: 'a', uid: 'u', resourceVersion: '7', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
  const object = { apiVersion: 'g.dev/v1', kind: 'K', metadata: { ...meta, ...metadata }, ...more }
  return { object, engine: {} }
}

/** For an answer that is a refusal. */
export function throwing(...[code, message]: readonly [ConstructorParameters<typeof OperatingError>[0], string]) {
  return (): never => {
    throw new OperatingError(code, message)
  }
}
