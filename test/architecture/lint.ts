import { spawnSync } from 'node:child_process'
import { root } from './source.ts'

export interface Finding {
  readonly file: string
  readonly line: number
  /** As oxlint writes it: `eslint(no-restricted-imports)`. */
  readonly rule: string
  /** What the rule's own message says to do instead. */
  readonly help: string
}

/** Runs oxlint with the configuration of a folder, without its type-aware rules, on everything in it. */
export function lint(folder: string): readonly Finding[] {
  const args = [`${root}/node_modules/oxlint/bin/oxlint`, '--format=json']
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (!stdout.startsWith('{')) throw new Error(`oxlint did not run: ${stdout}${stderr}`)
  const report = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] }
  return report.diagnostics.map(({ filename, code, help = '', labels }) => {
    return { file: filename, line: labels[0]?.span.line ?? 0, rule: code, help }
  })
}

interface Diagnostic {
  readonly filename: string
  readonly code: string
  readonly help?: string
  readonly labels: readonly { readonly span: { readonly line: number } }[]
}
