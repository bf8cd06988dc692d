import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Manifest } from './manifest.ts'

/**
 * The bill of materials of a package (CycloneDX), as npm makes it of our lock file: what it installs beside itself, in
 * which versions, with digests and licences. Without a time and a number of chance, so that a build makes it again.
 */
export function billOfMaterials(
  manifest: Pick<Manifest, 'name' | 'version' | 'dependencies'> & { readonly license?: unknown },
  lockFile: string,
): string {
  const scratch = mkdtempSync(join(tmpdir(), 'setpoint-sbom-'))
  try {
    const { name, version, license, dependencies } = manifest
    writeFileSync(join(scratch, 'package.json'), JSON.stringify({ name, version, license, dependencies }))
    copyFileSync(lockFile, join(scratch, 'package-lock.json'))
    npm(scratch, ['install', '--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'])
    const text = npm(scratch, ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'])
    const { serialNumber: _, metadata, ...bill } = JSON.parse(text) as Bill
    const { timestamp: __, component, ...about } = metadata
    return `${JSON.stringify({ ...bill, metadata: { ...about, component: { ...component, name } } }, null, 2)}\n`
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

interface Bill {
  readonly serialNumber: string
  readonly metadata: { readonly timestamp: string; readonly component: object }
}

function npm(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr.slice(-500)}`)
  return stdout
}
