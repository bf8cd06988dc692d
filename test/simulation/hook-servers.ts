import { OperatingError } from '../../shared/model/errors.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import type { WebhookCall, Webhooks } from '../../shared/ports/webhooks.ts'
import type { Climate, OutsideClimate } from './climate.ts'
import type { Life } from './life.ts'
import { oneOf, type World } from './world.ts'

/**
 * Servers of users that are asked about writes: `guard-N` refuses ConfigMaps whose value leaves the rest N by three,
 * `stamp` labels them by their value. They fail, take longer than they may, and give answers that are none.
 */
export interface HookServers {
  /** As one process asks them. */
  of(life: Life): Webhooks
  /** When a server of this name last gave no good answer. */
  lastTroubleMs(name: string): number
  calmDown(): void
}

export interface HookServersOptions {
  readonly world: World
  readonly climate: Climate
}

interface Question {
  readonly uid: string
  readonly object: { readonly metadata: { readonly labels?: JsonObject }; readonly data: { readonly value: string } }
}

export function createHookServers({ world, climate: { outside } }: HookServersOptions): HookServers {
  const random = world.random.fork('hook servers')
  const troubles = new Map<string, number>()
  let weather: OutsideClimate | undefined = outside

  const trouble = (name: string): void => {
    world.fault('webhook in trouble')
    troubles.set(name, world.nowMs())
  }

  const post = async (life: Life, { url, body, timeoutMs }: WebhookCall): Promise<string> => {
    const { hostname: name } = new URL(url)
    const { latencyMsMax = 5, fail = 0, lostAnswer = 0, unsure = 0 } = weather ?? {}
    const tookMs = random.next() < lostAnswer ? Infinity : Math.floor(random.next() * latencyMsMax)
    await life.pass(Math.min(tookMs, timeoutMs))
    const isBad = tookMs >= timeoutMs || random.next() < fail
    const isDamaged = random.next() < unsure
    if (isBad || isDamaged) trouble(name)
    if (isBad) throw new OperatingError('UNAVAILABLE', `${name} gave no answer in its time`)
    const { request } = JSON.parse(body) as { readonly request: Question }
    const response = { uid: request.uid, ...answerOf(name, request) }
    return isDamaged ? oneOf(random, damages)(response) : reviewOf(response)
  }

  return {
    of: (life) => ({ post: (call) => post(life, call) }),
    lastTroubleMs: (name) => troubles.get(name) ?? -Infinity,
    calmDown: () => {
      weather = undefined
    },
  }
}

export function hostOf(hook: string): string {
  return `${hook}.example`
}

export function isGuarded(guard: string, value: number): boolean {
  return value % 3 === Number(guard.replace('guard-', ''))
}

export function stampOf(value: string): string {
  return `s${value}`
}

function answerOf(host: string, { object: { metadata, data } }: Question): JsonObject {
  if (host !== hostOf('stamp')) return { allowed: !isGuarded(host.replace('.example', ''), Number(data.value)) }
  const labels = { ...metadata.labels, stamp: stampOf(data.value) }
  const patch = [{ op: 'add', path: '/metadata/labels', value: labels }]
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
}

function reviewOf(response: JsonObject): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

type Damage = (response: JsonObject) => string

/** The most dangerous one: it is well made, and says yes. So it is drawn most often. */
const ofAnotherQuestion: Damage = (response) => reviewOf({ ...response, uid: 'another question', allowed: true })

/** What a proxy or another program may answer; none of it says anything about what was asked. */
const damages: readonly Damage[] = [
  () => 'the server is starting',
  (response) => reviewOf(response).slice(0, -2),
  () => '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
  ...Array<Damage>(4).fill(ofAnotherQuestion),
  (response) => reviewOf(response).replace('admission.k8s.io/v1', 'admission.k8s.io/v9'),
  (response) => reviewOf({ ...response, allowed: true, patch: 'AAAA' }),
]
