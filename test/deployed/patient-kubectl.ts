import { setTimeout as sleep } from 'node:timers/promises'
import type { Kubectl } from '../support/kubectl.ts'
import type { Ended } from '../support/program.ts'

/**
 * A kubectl that says again what was answered by nobody: a request that a killed function was answering is a 500 of
 * the gateway, and one on an emulator that is too slow is a 503 of ours, or none at all. A person would repeat it,
 * too. What is there after that, though it was to be created, was made by the first request.
 */
export function patientKubectl(kubectl: Kubectl, { tries = 20, pauseMs = 2_000 } = {}): Kubectl {
  const run: Kubectl['run'] = async (line, options) => {
    for (let attempt = 1; ; attempt++) {
      const ended = await kubectl.run(line, options)
      if (ended.code === 0 || attempt === tries) return ended
      if (attempt > 1 && line.startsWith('create ') && /\(AlreadyExists\)/.test(ended.stderr)) return made(ended)
      if (!mayPass(ended.stderr)) return ended
      await sleep(pauseMs)
    }
  }
  const ok: Kubectl['ok'] = async (line, options) => {
    const ended = await run(line, options)
    if (ended.code === 0) return ended.stdout
    throw new Error(`kubectl ${line}: exit code ${ended.code}, not 0\n${ended.stdout}${ended.stderr}`)
  }
  return {
    ...kubectl,
    run,
    ok,
    apply: (manifest) => ok('apply -f -', { input: manifest }),
    json: async (line) => JSON.parse(await ok(`${line} -o json`)),
  }
}

function made(ended: Ended): Ended {
  return { ...ended, code: 0 }
}

/** Nobody has said no: the gateway, the emulator or the way to it failed. */
function mayPass(stderr: string): boolean {
  return passing.some((one) => one.test(stderr))
}

const passing: readonly RegExp[] = [
  /an error on the server \("/,
  /\((ServiceUnavailable|Timeout|TooManyRequests|InternalError)\)/,
  /Client\.Timeout|TLS handshake timeout|i\/o timeout|context deadline exceeded|http2: /,
  /connection (refused|reset)|unexpected EOF|: EOF/,
  /the server is currently unable to handle the request/,
  // The command that signs in was given up, or a process of the API does not know a new definition yet.
  /getting credentials: exec/,
  /no matches for kind|the server doesn't have a resource type/,
]
