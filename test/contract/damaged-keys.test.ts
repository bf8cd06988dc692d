/**
 * The damage matrix, for the files by which people and programs are let in: what the next start of a whole control
 * plane says, and what `--check` says before it. The rows are those of the table in docs/damage.md.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createTokenKeyFile } from '../../shared/adapters/local/tokens/token-key-file.ts'
import { checkDataDirectory } from '../../shared/runtime/local/check.ts'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const scratch = temporaryDirectory('damaged-keys')
afterAll(() => scratch[Symbol.dispose]())

const start = (dataDirectory: string) =>
  startLocalControlPlane({ port: 0, dataDirectory, controllers: () => [], logLevel: 'error' })

let count = 0

/** A data directory of a control plane that was stopped, with all that lets somebody in. */
async function stopped(): Promise<string> {
  const path = join(scratch.path, String(count++))
  mkdirSync(path)
  const plane = await start(path)
  await plane.stop(0)
  await createTokenKeyFile(join(path, 'service-accounts.key')).current()
  writeFileSync(join(path, 'users'), `jane sha256:${'0'.repeat(64)}\n`, { mode: 0o600 })
  return path
}

const cases = [
  { file: 'authority.pem', damage: 'is gone', make: rmSync },
  { file: 'authority.pem', damage: 'is damaged', make: (path: string) => writeFileSync(path, half(path)) },
  { file: 'service-accounts.key', damage: 'is gone', make: rmSync },
  { file: 'service-accounts.key', damage: 'is damaged', make: (path: string) => writeFileSync(path, half(path)) },
  { file: 'users', damage: 'is gone', make: rmSync },
  { file: 'users', damage: 'has a damaged line', make: (path: string) => writeFileSync(path, half(path)) },
]

function half(path: string): string {
  const text = readFileSync(path, 'utf8')
  return text.slice(0, text.length / 2)
}

function saidOf(file: string, damage: string): string {
  const rows = readFileSync('docs/damage.md', 'utf8').matchAll(/^\| `([\w.-]+)` \| ([^|]+) \| ([^|]+) \|$/gm)
  return [...rows].find((row) => row[1] === file && row[2] === damage)?.[3] ?? 'no row'
}

async function refusal(path: string): Promise<string | undefined> {
  try {
    const plane = await start(path)
    await plane.stop(0)
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'UNAVAILABLE' })
    return (error as Error).message
  }
}

describe('a start', () => {
  it.each(cases)('where $file $damage', async ({ file, damage, make }) => {
    const path = await stopped()
    expect(checkDataDirectory(path)).toMatchObject({ isWhole: true, report: expect.stringMatching(/keys and users$/) })
    make(join(path, file))
    const [, says] = /^`(.*)`$/.exec(saidOf(file, damage)) ?? []
    const { isWhole, report } = checkDataDirectory(path)
    expect(isWhole).toBe(damage === 'is gone')
    if (!isWhole) expect(report).toContain(`damaged  keys and users: ${join(path, file)}`)
    const message = await refusal(path)
    if (says === undefined) {
      expect(saidOf(file, damage)).toMatch(/^nothing: /)
      return expect(message).toBeUndefined()
    }
    expect(message).toContain(`${file} ${says}`)
    // As the line says.
    rmSync(join(path, file))
    expect(await refusal(path)).toBeUndefined()
    expect(existsSync(join(path, 'setpoint.db'))).toBe(true)
  })
})
