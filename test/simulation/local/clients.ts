import type { SeededRandom } from '../../../shared/testing/seeded-random.ts'
import { piecesOf, refusalLine, textOf } from '../http-reply.ts'
import { httpRequest } from '../http-request.ts'
import { simToken, type Plane } from '../plane.ts'
import { below, type World } from '../world.ts'
import type { RunningProcess } from './supervisor.ts'

export interface ClientsOptions {
  readonly world: World
  readonly random: SeededRandom
  /** The process that answers now, if there is one. */
  readonly findRunning: () => RunningProcess | undefined
}

/** Whoever asks the process that runs now. */
export function createClients({
  world,
  random,
  findRunning,
}: ClientsOptions): Required<Pick<Plane, 'request' | 'watch'>> {
  /** Asks the process that runs now; undefined if there is none, or it dies before it answers. */
  async function ask(line: string, body: unknown, token: string, signal?: AbortSignal) {
    await world.sleep(below(random, 10))
    const running = findRunning()
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
    watch,
    request: async (line, body, token = simToken) => {
      const asked = await ask(line, body, token)
      if (asked === undefined) return
      const text = await asked.life.live(textOf(asked.reply))
      return text === 'dead' ? undefined : { ...asked.reply, body: text }
    },
  }
}
