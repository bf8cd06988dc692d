import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Dashboard, PanelOptions } from './grafana-types.ts'

/**
 * The dashboard is of the form that Grafana loads. No registry has a Grafana that could be started; its types are
 * generated from its schema, as its front end uses them (npm: @grafana/schema).
 */

const dashboard = readFileSync(join(root, 'infra/production/dashboard.json'), 'utf8')

/** A program that has no error if the dashboard, and the options of each panel, are what Grafana's types say. */
function checkingProgram(text: string): string {
  const { panels = [] } = JSON.parse(text) as Dashboard
  const lines = panels.map((panel, i) => {
    const options: Partial<PanelOptions[keyof PanelOptions]> = 'options' in panel ? (panel.options ?? {}) : {}
    return `export const panel${i}: PanelOptions['${panel.type}'] = ${JSON.stringify(options)}`
  })
  return `
import type { Dashboard, PanelOptions } from '${join(root, 'test/infra/grafana-types.ts')}'
export const dashboard: Dashboard = ${text}
${lines.join('\n')}
`
}

async function complaintsOf(text: string): Promise<string> {
  using directory = temporaryDirectory('grafana')
  writeFileSync(join(directory.path, 'package.json'), '{"type":"module"}')
  writeFileSync(join(directory.path, 'main.ts'), checkingProgram(text))
  const compilerOptions = { incremental: false, tsBuildInfoFile: null, types: [] }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, files: ['main.ts'], include: [] }
  writeFileSync(join(directory.path, 'tsconfig.json'), JSON.stringify(config))
  return (await runProgram(join(root, 'node_modules/.bin/tsc'), ['-p', directory.path])).stdout
}

it("is what Grafana's types say", async () => {
  expect(await complaintsOf(dashboard)).toBe('')
})

it('would not pass with a field of another type, or an option that a panel does not have', async () => {
  expect(await complaintsOf(dashboard.replace('"refresh": "30s"', '"refresh": 30'))).toContain("'number' is not")
  expect(await complaintsOf(dashboard.replace('"mode": "markdown"', '"mode": "marked"'))).toContain('marked')
  expect(await complaintsOf(dashboard.replace('"mode": "markdown"', '"made": "markdown"'))).toContain('"made"')
})
