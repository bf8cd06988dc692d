import { expect, it, vi } from 'vitest'
import type { AskKubectl } from '../../functions/command/ask-kubectl.ts'
import { callCommand } from '../../functions/command/commands.ts'
import { OperatingError } from '../../shared/index.ts'

/** What a command prints when kubectl answers this by the first word and the path, or fails. */
async function listenTo(words: readonly string[], ask: AskKubectl): Promise<{ stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' }
  const before = process.exitCode
  vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text)
      return true
    })
  try {
    await callCommand(words, ask)
    return said
  } finally {
    vi.restoreAllMocks()
    process.exitCode = before
  }
}

const steering = '\u001b[2Jgone\nall is well'

it('why an object cannot be migrated steers no terminal', async () => {
  const page = { version: 'v2', objects: 1, written: 0, failed: [{ namespace: 'n', name: 'a', message: steering }] }
  const definitions = { items: [{ metadata: { name: 'disks.example.dev', resourceVersion: '1' } }] }
  const ask: AskKubectl = async ([verb]) => JSON.stringify(verb === 'get' ? definitions : page)
  const { stdout } = await listenTo(['migrate', 'disks.example.dev'], ask)
  expect(stdout).toContain('disks.example.dev n/a: ^[[2Jgone\n  all is well\n')
})

it('what a server says of a mistake steers no terminal', async () => {
  const ask: AskKubectl = () => Promise.reject(new OperatingError('UNAVAILABLE', `kubectl get: denied: ${steering}`))
  expect(await listenTo(['doctor'], ask)).toEqual({
    stdout: '',
    stderr: 'setpoint: kubectl get: denied: ^[[2Jgone\nall is well\n',
  })
})

it('what the doctor says steers no terminal', async () => {
  expect(await listenTo(['doctor'], async () => 'fine\u001b[2J\n')).toEqual({ stdout: 'fine^[[2J\n', stderr: '' })
})
