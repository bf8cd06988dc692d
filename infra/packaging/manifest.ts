/** A package.json, as far as it matters here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

/** What is to come from whoever installs the package, and be the same as theirs. */
const peers: Readonly<Record<string, string>> = { 'aws-cdk-lib': '^2.276.0', constructs: '^10.8.1' }

const entries = { '.': 'shared/index', './cdk': 'infra/cdk', './testing': 'shared/testing/test-env' }

/**
 * The manifest of the package that is installed: it depends on what its modules import, and on nothing else. Whoever
 * installs it brings Node: with `node:sqlite`, for tests, and one that loads reconcilers in TypeScript.
 */
export function installable(own: Manifest, modules: readonly string[]): Manifest {
  const { name, version, license, description } = own
  const imported = findImportedPackages(modules).filter((one) => !(one in peers) && one !== name)
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.18' },
    exports: Object.fromEntries(
      Object.entries(entries).map(([entry, file]) => [entry, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
    ),
    dependencies: Object.fromEntries(imported.map((one) => [one, versionOf(own, one)])),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((one) => [one, { optional: true }])),
  }
}

/** Packages that modules import by name, Node's own left out. */
function findImportedPackages(modules: readonly string[]): readonly string[] {
  const specifiers = modules.flatMap((text) =>
    [...text.matchAll(/^(?:import|export)\b[^'"]*from ['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm)].map(
      ([, first, second]) => first ?? second ?? '',
    ),
  )
  const names = specifiers.filter((one) => !/^(\.|node:|#)/.test(one)).map(nameOf)
  return [...new Set(names)].sort()
}

/** Of a package from one of its subpaths. */
function nameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function versionOf({ dependencies, devDependencies = {} }: Manifest, name: string): string {
  const version = dependencies[name] ?? devDependencies[name]
  if (version === undefined) throw new Error(`${name} is imported, but is no dependency`)
  return version
}
