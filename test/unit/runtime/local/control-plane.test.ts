import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { askHealth } from '../../../../shared/runtime/local/health.ts'
import { startLocalControlPlane } from '../../../../shared/runtime/local/control-plane.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory('plane')
afterAll(() => directory[Symbol.dispose]())

const start = () =>
  startLocalControlPlane({ port: 0, dataDirectory: directory.path, logLevel: 'error', controllers: () => [] })

it('a control plane in a process of somebody else may be stopped again, and its directory is free then', async () => {
  const plane = await start()
  const ends = [plane.stop(0), plane.stop(0)]
  await expect(Promise.all(ends)).resolves.toEqual([undefined, undefined])
  await expect(plane.stop(0)).resolves.toBeUndefined()
  await expect(plane.ended).resolves.toBeUndefined()
  const again = await start()
  await expect(again.stop(0)).resolves.toBeUndefined()
})

it('says of which file it takes no writes, and writes its key again', async () => {
  const plane = await start()
  const at = (name: string): string => join(directory.path, name)
  const health = () => askHealth(directory.path).catch((error: unknown) => (error as Error).message)
  renameSync(at('setpoint.db-wal'), at('away'))
  await expect
    .poll(health, { timeout: 30_000 })
    .toContain('[-]writes failed: setpoint.db-wal is not in its place: put it back')
  renameSync(at('away'), at('setpoint.db-wal'))
  await expect.poll(health, { timeout: 30_000 }).toBe('ok')
  const key = readFileSync(at('secrets.key'), 'utf8')
  rmSync(at('secrets.key'))
  await plane.stop(0)
  expect(readFileSync(at('secrets.key'), 'utf8')).toBe(key)
})

it('does not start where a directory has the name of a file that it makes, and says so', async () => {
  using other = temporaryDirectory('plane')
  const copy = join(other.path, 'backup.tmp')
  mkdirSync(copy)
  const refused = startLocalControlPlane({ port: 0, dataDirectory: other.path, controllers: () => [] })
  await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(copy) })
  rmSync(copy, { recursive: true })
  const plane = await startLocalControlPlane({ port: 0, dataDirectory: other.path, controllers: () => [] })
  await plane.stop(0)
})
