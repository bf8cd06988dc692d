import { afterAll, expect, it } from 'vitest'
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
