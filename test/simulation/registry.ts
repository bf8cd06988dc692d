import { HttpError, type JsonObject } from '../../shared/index.ts'
import type { OutsideClimate } from './climate.ts'
import { call, type Life, type Network } from './life.ts'
import { below, type World } from './world.ts'

/**
 * A system outside that chooses the ids of its entities: it shows them late, makes them late where the answer of a
 * create is lost, and takes its time to delete them. What it can do differs from seed to seed.
 */
export interface Registry {
  /** What is truly there, also what nobody can see yet. */
  entities(): readonly Entity[]
  /** The system as one life reaches it. */
  reach(life: Life, network: Network): RegistryClient
  /** Somebody deletes the entity of this owner by hand, or changes it. */
  tamper(owner: string, how: 'delete' | 'change'): void
  calmDown(): void
}

export interface Entity {
  readonly id: string
  /** The uid of the object that it is marked for. */
  readonly owner: string
  readonly name: string
  readonly value: number
}

export interface RegistryClient {
  get(id: string): Promise<JsonObject | undefined>
  find(owner: string): Promise<JsonObject | undefined>
  create(entity: Omit<Entity, 'id'>, token: string): Promise<JsonObject>
  update(id: string, value: number): Promise<JsonObject>
  delete(id: string): Promise<void>
}

/** What it can do, and how late it does it. */
export interface RegistryTraits {
  /** An entity can be looked for by its owner. */
  readonly finds: boolean
  /** Two creates with one token make one entity. */
  readonly tokens: boolean
  /** No two entities have one name. */
  readonly unique: boolean
  /** So long an entity may not be seen after it was made. */
  readonly unseenMsMax: number
  /** So much later a create may be made whose answer was lost. */
  readonly lateMsMax: number
  readonly deleteMsMax: number
}

export interface RegistryOptions {
  readonly world: World
  readonly traits: RegistryTraits | undefined
  readonly climate: OutsideClimate
  readonly clear: OutsideClimate
  readonly onMade: (entity: Entity, by: string) => void
}

interface Kept extends Entity {
  readonly token: string
  readonly seenFromMs: number
  readonly goneFromMs: number
}

export function createRegistry({ world, traits, climate, clear, onMade }: RegistryOptions): Registry {
  const { unseenMsMax = 0, lateMsMax = 0, deleteMsMax = 0, unique = false, tokens = false } = traits ?? {}
  const random = world.random.fork('registry')
  const kept = new Map<string, Kept>()
  let weather = climate
  let made = 0

  const there = (): readonly Kept[] => [...kept.values()].filter(({ goneFromMs }) => world.nowMs() < goneFromMs)
  const isSeen = ({ seenFromMs }: Kept): boolean => world.nowMs() >= seenFromMs
  const seen = (id: string): Kept => {
    const found = kept.get(id)
    if (found === undefined || !isSeen(found) || world.nowMs() >= found.goneFromMs)
      throw new HttpError(404, 'there is no such entity')
    return found
  }

  const make = (entity: Omit<Entity, 'id'>, token: string, by: string): Kept => {
    const known = tokens ? there().find((one) => one.token === token) : undefined
    if (known !== undefined) return known
    if (unique && there().some(({ name }) => name === entity.name)) throw new HttpError(409, 'the name is taken')
    const seenFromMs = world.nowMs() + below(random, unseenMsMax + 1)
    const fresh: Kept = { ...entity, id: `e${++made}`, token, seenFromMs, goneFromMs: Infinity }
    kept.set(fresh.id, fresh)
    onMade(fresh, by)
    return fresh
  }

  const refuse = (isRead: boolean): void => {
    if (random.next() < weather.fail) fails('outside failed', new HttpError(503, 'not now'), world)
    if (isRead && random.next() < weather.unsure) fails('outside was unsure', new HttpError(500, 'not sure'), world)
    if (random.next() >= weather.rateLimit) return
    fails('outside limited the rate', new HttpError(429, 'not so fast', { retryAfterMs: 7_000 }), world)
  }

  const reach = (life: Life, network: Network): RegistryClient => {
    const onTheWay = (): object => ({ latencyMsMax: weather.latencyMsMax, throttle: 0, unknown: 0 })
    const far: Network = { ...network, climate: () => ({ ...network.climate(), ...onTheWay() }) }
    const read = <Result>(name: string, work: () => Result): Promise<Result> =>
      call(far, life, { name: `registry.${name}` }, async () => {
        refuse(true)
        return work()
      })
    /** Where the answer is lost, it may not be done yet. */
    const write = <Result>(name: string, work: () => Result, canBeLate = false): Promise<Result> =>
      call(far, life, { name: `registry.${name}` }, async () => {
        refuse(false)
        if (random.next() >= weather.lostAnswer) return work()
        if (canBeLate && lateMsMax > 0) world.after(below(random, lateMsMax), () => attempt(work))
        else work()
        return fails('outside lost its answer', new Error('the answer was lost'), world)
      })
    return {
      get: (id) => read('get', () => shown(seen(id))),
      find: (owner) =>
        read('find', () => {
          const found = there().find((one) => one.owner === owner && isSeen(one))
          return found && shown(found)
        }),
      create: (entity, token) => write('create', () => shown(make(entity, token, life.name)), true),
      update: (id, value) =>
        write('update', () => {
          const next = { ...seen(id), value }
          kept.set(id, next)
          return shown(next)
        }),
      delete: (id) =>
        write('delete', () => {
          const found = seen(id)
          kept.set(id, { ...found, goneFromMs: Math.min(found.goneFromMs, world.nowMs() + below(random, deleteMsMax)) })
        }),
    }
  }

  return {
    entities: there,
    reach,
    tamper: (owner, how) => {
      for (const one of there().filter((entity) => entity.owner === owner))
        kept.set(one.id, how === 'delete' ? { ...one, goneFromMs: world.nowMs() } : { ...one, value: -1 })
    },
    calmDown: () => {
      weather = clear
    },
  }
}

function shown({ id, owner, name, value }: Kept): JsonObject {
  return { id, owner, name, value }
}

function attempt(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    // Nobody waits for this answer.
    if (!(error instanceof HttpError)) throw error
  }
}

function fails(how: string, error: Error, world: World): never {
  world.fault(how)
  throw error
}
