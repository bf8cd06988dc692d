import { OperatingError } from '../../../shared/model/errors.ts'
import type { HttpResponse } from '../../../shared/ports/http-handler.ts'
import type { WorkQueue } from '../../../shared/ports/work-queue.ts'
import { startLocalCore, type LocalCore } from '../../../shared/runtime/local/core.ts'
import { clearSky } from '../climate.ts'
import { httpRequest } from '../http-request.ts'
import type { Life, Network } from '../life.ts'
import { simToken, type Plane, type PlaneOptions } from '../plane.ts'
import { silent } from '../silent.ts'
import { beginMs, below } from '../world.ts'
import { createDisk } from './disk.ts'
import { createMachine } from './machine.ts'
import { openPorts, type OpenPorts } from './open-ports.ts'
import { createRecord } from './record.ts'
import { fillDisk } from './template.ts'

/** A process that has started. */
interface Running {
  readonly life: Life
  readonly core: LocalCore
}

/** The local engine: one process over one file, which is started again whenever it has died. */
export function startLocalPlane(options: PlaneOptions): Plane {
  const { world, scenario, report } = options
  const { climate, local, absent } = scenario
  let weather = climate
  let running: Running | undefined
  let isOver = false
  const disk = createDisk()
  const record = createRecord(options)
  const machine = createMachine({ world, scenario, disk, onCommitted: record.settle })
  const queues = new Map<string, WorkQueue>()
  const random = world.random.fork('supervisor')
  const network: Network = {
    world,
    random: world.random.fork('network'),
    // Who dies or stands still does so as a whole.
    climate: () => ({ ...weather, crash: 0, pause: 0 }),
    isCalm: () => weather !== climate,
    isLocal: true,
  }

  /** Runs one process to its end. Throws if it cannot start. */
  async function live(life: Life, opened: OpenPorts): Promise<void> {
    const core = await life.live(
      startLocalCore({
        ports: opened.ports,
        controllers: options.controllers(life, network).filter(({ kind: { kind } }) => !isAway(kind)),
        authenticate: (token) => (token === simToken ? { name: 'user', groups: ['system:masters'] } : undefined),
        clock: life.clock,
        random: world.random.fork(`chance ${life.name}`),
        logger: silent,
        tickMs: local?.tickMs ?? 1_000,
        wrapQueue: (queue, name) => {
          queues.set(name, queue)
          return queue
        },
      }),
    )
    if (core === 'dead') return
    running = { life, core }
    await life.live(core.ended)
    // Whoever is stopped ends by itself.
    await life.live(new Promise(() => {}))
  }

  /** What starts the process again. */
  async function supervise(): Promise<void> {
    while (!isOver) {
      const life = machine.birth()
      const opened = openPorts({ life, machine, record, disk, network })
      try {
        await life.live(record.compare(opened.bare.store))
        await live(life, opened)
      } catch (error) {
        if (!(error instanceof OperatingError)) report(`local engine: ${life.name} broke: ${String(error)}`)
        machine.kill('as it could not go on')
      }
      running = undefined
      opened.close()
      await world.sleep(below(random, restartMsMax))
    }
  }

  /** Another version takes its place: half of them are stopped, and half of them killed. */
  async function replace(): Promise<void> {
    const { life, core } = running ?? {}
    if (life === undefined || core === undefined || random.next() < 0.5) return machine.kill('to be replaced')
    running = undefined
    world.fault('stopped')
    await life.live(core.stop(below(random, 10_000)))
    machine.end('since it has stopped')
  }

  function isAway(kind: string): boolean {
    const sinceMs = world.nowMs() - beginMs
    return kind === absent?.kind && sinceMs >= absent.fromMs && sinceMs < absent.untilMs
  }

  async function takeAway(fromMs: number, untilMs: number): Promise<void> {
    await world.sleep(fromMs)
    world.fault('controller taken away')
    await replace()
    await world.sleep(beginMs + untilMs - world.nowMs())
    await replace()
  }

  async function deploy(): Promise<void> {
    while (weather === climate) {
      await world.sleep(60_000 + below(random, 600_000))
      if (weather === climate) await replace()
    }
  }

  /** Asks the process that runs now; undefined if there is none, or it dies before it answers. */
  async function ask(line: string, body: unknown, token: string, signal?: AbortSignal) {
    await world.sleep(below(random, 10))
    if (running === undefined) return
    const { life, core } = running
    const passed = await life.live(life.pass(0))
    if (passed === 'dead') return
    const reply = await life.live(core.api(httpRequest(line, body, token, signal)))
    return reply === 'dead' ? undefined : { reply, life }
  }

  async function* watch(line: string): AsyncGenerator<string> {
    const leaving = new AbortController()
    try {
      const asked = await ask(line, undefined, simToken, leaving.signal)
      if (asked === undefined) throw new Error('nobody answers')
      const { reply, life } = asked
      if (reply.status !== 200) return yield refusalLine(reply.status)
      const pieces = piecesOf(reply)
      for (;;) {
        const next = await life.live(pieces.next())
        if (next === 'dead') throw new Error('the connection broke')
        if (next.done === true) return
        yield next.value
      }
    } finally {
      leaving.abort('left')
    }
  }

  return {
    table: { items: record.items, reservations: new Map() },
    begin: async () => {
      await fillDisk(disk, scenario)
      record.open(disk.file())
      world.after(0, () => void supervise())
      if (absent !== undefined) void takeAway(absent.fromMs, absent.untilMs)
      if (climate.deploying) void deploy()
    },
    request: async (line, body, token = simToken) => {
      const asked = await ask(line, body, token)
      if (asked === undefined) return
      const text = await asked.life.live(textOf(asked.reply))
      return text === 'dead' ? undefined : { ...asked.reply, body: text }
    },
    watch,
    backlog: () => [...queues.values()].reduce((sum, queue) => sum + depthOf(queue), 0),
    calmDown: () => {
      weather = { ...clearSky, latencyMsMax: 0 }
      machine.calmDown()
    },
    end: () => {
      isOver = true
      machine.end('as all is over')
      disk.remove()
    },
  }
}

/** Until who supervises starts the next process. */
const restartMsMax = 20_000

function depthOf(queue: WorkQueue): number {
  return (queue as Partial<{ depth(): number }>).depth?.() ?? 0
}

/** What a watch that is refused with this status would tell. */
function refusalLine(code: number): string {
  return `${JSON.stringify({ type: 'ERROR', object: { code } })}\n`
}

async function textOf(reply: HttpResponse): Promise<string> {
  let text = ''
  for await (const piece of piecesOf(reply)) text += piece
  return text
}

async function* piecesOf({ body }: HttpResponse): AsyncGenerator<string> {
  if (typeof body === 'string') return yield body
  const decoder = new TextDecoder()
  if (body instanceof Uint8Array) return yield decoder.decode(body)
  for await (const piece of body) yield typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
}
