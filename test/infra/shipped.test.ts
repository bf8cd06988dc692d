import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { longOnly } from '../support/strength.ts'

/** `infra/app.ts` as `cdk synth` runs it. */
const directories = [temporaryDirectory('synth'), temporaryDirectory('synth')] as const
afterAll(() => {
  for (const one of directories) one[Symbol.dispose]()
})

async function synthesize(outdir: string): Promise<string> {
  const context = JSON.stringify({ admins: 'arn:aws:iam::123456789012:role/Admin', stage: 'test' })
  // Nowhere: what would be looked up in an account would fail.
  const nowhere = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_REGION: 'eu-west-1' }
  const env = { ...nowhere, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: context }
  const { code, stderr } = await runProgram(process.execPath, ['infra/app.ts'], { env })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return readFileSync(join(outdir, 'Setpoint-test.template.json'), 'utf8')
}

describe('the stack of the project', () => {
  it('is the same when it is synthesized again, code and all, and nothing is looked up', longOnly, async () => {
    const first = await synthesize(directories[0].path)
    expect(await synthesize(directories[1].path)).toBe(first)
    const assets = directories.map(({ path }) => readdirSync(path).filter((name) => name.startsWith('asset.')))
    expect(assets[0]?.length).toBeGreaterThanOrEqual(7)
    expect(assets[1]).toEqual(assets[0])
    const manifest = readFileSync(join(directories[0].path, 'manifest.json'), 'utf8')
    expect(JSON.parse(manifest)).not.toHaveProperty('missing')
    expect(first).toContain('arn:aws:iam::123456789012:role/Admin')
    expect(first).toContain('get-token')
  })
})
