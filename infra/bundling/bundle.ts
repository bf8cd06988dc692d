import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync, type BuildOptions } from 'esbuild'

/**
 * How all code for Lambda is bundled: one ES module with the AWS SDK in it, which imports faster than the copy the
 * runtime has. Names of functions and classes are kept, since logs show those of errors.
 */
const options = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  keepNames: true,
  mainFields: ['module', 'main'],
  // An optional peer of pg, looked for and done without.
  external: ['pg-native'],
  // CommonJS packages call `require`, which ES modules do not have.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'silent',
} as const satisfies BuildOptions

/** Bundles a module given by its text, for running it here. Throws what esbuild found wrong. */
export function bundleText(text: string, directory: string): string {
  const built = buildSync({ ...options, stdin: { contents: text, resolveDir: directory, loader: 'ts' }, write: false })
  return built.outputFiles[0]?.text ?? ''
}

/** Writes `index.mjs` with the exports of `entry`, where the text stands in the place of the module `#reconcilers`. */
export function writeBundle(entry: string, reconcilers: string, directory: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'setpoint-bundle-'))
  try {
    const module = join(scratch, 'reconcilers.mjs')
    writeFileSync(module, reconcilers)
    buildSync({
      ...options,
      entryPoints: [entry],
      outfile: join(directory, 'index.mjs'),
      alias: { '#reconcilers': module },
    })
  } finally {
    rmSync(scratch, { recursive: true })
  }
}
