import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Kubectl } from '../support/kubectl.ts'
import type { Ended } from '../support/program.ts'
import { patientKubectl } from './patient-kubectl.ts'
import { limitSteps, step, until } from './steps.ts'

const unavailable = 'Error from server (ServiceUnavailable): the table is away'

/** A kubectl that answers so, one after the other. */
function answering(...answers: readonly (readonly [code: number, said: string])[]): {
  readonly kubectl: Kubectl
  readonly lines: readonly string[]
} {
  const left = [...answers]
  const lines: string[] = []
  const run: Kubectl['run'] = async (line) => {
    lines.push(line)
    const [code, said] = left.shift() ?? [0, '']
    return { code, stdout: code === 0 ? said : '', stderr: code === 0 ? '' : said } as Ended
  }
  return { kubectl: patientKubectl({ run } as Kubectl, { tries: 5, pauseMs: 0 }), lines }
}

describe('a patient kubectl', () => {
  it.each([
    unavailable,
    'Error from server (InternalError): an error on the server ("unknown") has prevented the request from succeeding',
    'Unable to connect to the server: net/http: TLS handshake timeout',
    'The connection to the server localhost:1234 was refused: connect: connection refused',
    'Unable to connect to the server: EOF',
    'Unable to connect to the server: getting credentials: exec: executable sh failed with exit code 255',
    'error: resource mapping not found for name: "a" namespace: "" from "STDIN": no matches for kind "Counter" in version "example.dev/v1"',
  ])('says it again after %s', async (said) => {
    const { kubectl, lines } = answering([1, said], [1, said], [0, 'there'])
    expect(await kubectl.ok('get namespaces')).toBe('there')
    expect(lines).toHaveLength(3)
  })

  it.each(['Error from server (NotFound): no', 'Error from server (Forbidden): no', 'error: unknown flag'])(
    'takes %s for an answer',
    async (said) => {
      const { kubectl, lines } = answering([1, said])
      await expect(kubectl.ok('get namespaces')).rejects.toThrow(said)
      expect(lines).toHaveLength(1)
    },
  )

  it('gives up in the end, and says why', async () => {
    const { kubectl } = answering(...Array.from({ length: 9 }, () => [1, unavailable] as const))
    await expect(kubectl.json('get namespaces')).rejects.toThrow(unavailable)
  })

  it('has created what is there when it asks again, and nothing that was there before', async () => {
    const exists = 'Error from server (AlreadyExists): configmaps "a" already exists'
    const again = answering([1, unavailable], [1, exists])
    await again.kubectl.ok('create configmap a')
    const first = answering([1, exists])
    await expect(first.kubectl.ok('create configmap a')).rejects.toThrow('AlreadyExists')
  })
})

describe('a wait', () => {
  it('goes on though a look fails, and ends with what it saw last', async () => {
    let looks = 0
    const look = async (): Promise<number> => {
      looks++
      if (looks === 1) throw new Error('not yet')
      return looks
    }
    expect(await until(look, (seen) => seen === 2, 60, 0)).toBe(2)
    const failing = (): Promise<number> => Promise.reject(new Error('never'))
    await expect(until(failing, () => true, 0, 0)).rejects.toThrow(/last seen: .*never/)
  })
})

describe('a step', () => {
  afterEach(() => {
    limitSteps()
    vi.restoreAllMocks()
  })

  it('that is under way when the time of the script is over fails, with that; what cleans up has no limit', async () => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => {})
    limitSteps(0)
    await expect(step('hangs', () => new Promise(() => {}))).rejects.toThrow('not done after 0 s')
    expect(print).toHaveBeenCalledWith(expect.stringMatching(/^ {2}FAILED .* hangs$/))
    limitSteps()
    expect(await step('takes away', () => Promise.resolve('all'))).toBe('all')
  })
})
