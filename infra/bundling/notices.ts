import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of others that a bundle has code of. */
interface Bundled {
  readonly name: string
  readonly license: string
  /** What it wants to be told: its licence, and its notice if it has one. */
  readonly texts: readonly string[]
}

/**
 * The licences and notices of all packages that these files of a bundle are of, each text once. Throws for a package
 * that says nothing of its licence.
 */
export function thirdPartyNotices(inputs: readonly string[]): string {
  const packages = [...new Set(inputs.map(packageDirectory).filter((one) => one !== undefined))].map(readPackage)
  const namesByText = new Map<string, string[]>()
  for (const { name, license, texts } of packages.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    for (const text of texts.length > 0 ? texts : [`Its package has no text of the licence ${license}.`])
      namesByText.set(text, [...(namesByText.get(text) ?? []), `${name} (${license})`])
  const sections = [...namesByText].map(([text, names]) => `${[...new Set(names)].join('\n')}\n\n${text}`)
  return `This function has code of these packages.\n\n${sections.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Of a path such as `../node_modules/@a/b/lib/c.js`: what stands before `lib`. */
function packageDirectory(input: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0]
}

function readPackage(directory: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
    readonly license?: unknown
  }
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|notice|copying)(\.|$|-)/i.test(file))
  const texts = files
    .toSorted()
    .map((file) => readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim())
  if (typeof license !== 'string' && texts.length === 0) throw new Error(`${directory} says nothing of its licence`)
  return { name: `${name} ${version}`, license: typeof license === 'string' ? license : 'see below', texts }
}
