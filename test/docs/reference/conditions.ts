/** What the shipped kinds say in their conditions; `conditions.test.ts` holds the words against the code. */
export interface KindConditions {
  /** By type: what the condition says, and its reasons. `Ready` and `Stalled` of the engine are left out. */
  readonly conditions: Readonly<Record<string, Told>>
  /** What Ready says besides `Reconciled` and the reasons of failures. */
  readonly ready: readonly string[]
}

interface Told {
  readonly what: string
  readonly reasons: readonly string[]
}

const reference = (what: string): Told => ({ what, reasons: ['Valid', 'NotFound', 'NotReady', 'BeingDeleted'] })

/** Of every kind with an entity behind an API (`defineExternal`). */
const external = {
  Programmed: {
    what: 'The entity outside is as declared, as of the last look.',
    reasons: ['Synced', 'Observed', 'Differs', 'RateLimited'],
  },
  Adopted: {
    what: 'The entity was there before its object, and was taken over; False: the annotation names another one.',
    reasons: ['Matched', 'Overridden', 'TakenOver', 'AnotherEntity'],
  },
  ImmutableFields: { what: 'Only False: fields that the API never changes differ.', reasons: ['Differs'] },
} as const

const externalReady: readonly string[] = [
  'RateLimited',
  'CreateUnknown',
  'NotVisibleYet',
  'StillThere',
  'NameTaken',
  'OwnedByAnother',
  'NothingToAdopt',
  'AdoptionDiffers',
  'NothingToObserve',
  'Absent',
  'PolicyInvalid',
  'CannotMove',
]

export const conditionsByKind: Readonly<Record<string, KindConditions>> = {
  BackupPolicy: {
    conditions: {
      CronJobCreated: { what: 'The CronJob is as declared.', reasons: ['CronJobCreated'] },
      Suspended: { what: 'No new dumps are made. Only there while it is True.', reasons: ['Suspended'] },
      TargetsFound: { what: 'Every target is a PostgresDatabase that exists.', reasons: ['Found', 'NotFound'] },
    },
    ready: ['CronJobCreated', 'Suspended', 'InvalidSchedule', 'JobsRunning', 'NameTaken'],
  },
  CronJob: {
    conditions: { Suspended: { what: 'No new Jobs are made. Only there while it is True.', reasons: ['Suspended'] } },
    ready: ['NeverDue', 'InvalidSchedule'],
  },
  Job: {
    conditions: {
      Complete: { what: 'All databases are dumped.', reasons: ['CompletionsReached'] },
      Failed: {
        what: 'The Job gave up; or the reason of a refusal by PostgreSQL.',
        reasons: ['BackoffLimitExceeded', 'DeadlineExceeded', 'UnsupportedObjects'],
      },
    },
    ready: ['Started', 'Dumping', 'CalledOff', 'DatabaseNotFound', 'DatabaseNotReady'],
  },
  PostgresCluster: {
    conditions: {
      CredentialsReady: { what: 'The Secret of the superuser is stored.', reasons: ['Stored'] },
      Initialised: { what: 'The data directory is there. On one machine only.', reasons: ['AsDeclared'] },
      ParametersReady: { what: 'The parameter group is as declared. On AWS only.', reasons: ['AsDeclared'] },
      Created: { what: 'The instance is there. On AWS only.', reasons: ['AsDeclared'] },
      Configured: { what: 'The server has its settings.', reasons: ['AsDeclared'] },
      UnsupportedLibraries: {
        what: 'The PostgreSQL of this machine links libraries that are out of support; the message says what to type. Only there while it is True.',
        reasons: ['OutOfSupport'],
      },
      Running: { what: 'The server takes connections.', reasons: ['AsDeclared'] },
    },
    ready: ['NoEndpoint'],
  },
  PostgresDatabase: {
    conditions: {
      ClusterReady: { what: 'The cluster can be reached.', reasons: ['Ready', 'ClusterNotFound', 'ClusterNotReady'] },
    },
    ready: ['CannotMove', 'ClusterNotFound', 'ClusterNotReady'],
  },
  KonnectControlPlane: {
    conditions: { ...external, AuthRefValid: reference('The Secret with the token.') },
    ready: [...externalReady, 'AuthRefInvalid'],
  },
  KonnectConsumer: {
    conditions: { ...external, ControlPlaneRefValid: reference('The control plane that it is in.') },
    ready: [...externalReady, 'AuthRefNotFound'],
  },
  KonnectService: {
    conditions: { ...external, ControlPlaneRefValid: reference('The control plane that it is in.') },
    ready: [...externalReady, 'AuthRefNotFound'],
  },
  KonnectRoute: {
    conditions: {
      ...external,
      ControlPlaneRefValid: reference('The control plane that it is in.'),
      ServiceRefValid: reference('Its service, if it names one.'),
    },
    ready: [...externalReady, 'AuthRefNotFound'],
  },
}

/** Reasons of failures of PostgreSQL and its host, which PostgresCluster, PostgresDatabase and Job share. */
export const postgresFailures: Readonly<
  Record<'tried again' | 'stops until the declaration changes', readonly string[]>
> = {
  'tried again': [
    'AuthenticationFailed',
    'ConnectionLost',
    'DataGone',
    'DatabaseNotFound',
    'DependentObjectsExist',
    'InitialisationFailed',
    'InstanceNotFound',
    'InsufficientResources',
    'NoFreePort',
    'NotConfigured',
    'NotInitialised',
    'ObjectInUse',
    'ObjectNotFound',
    'PortInUse',
    'ProgramFailed',
    'SchemaNotFound',
    'ServerEnding',
    'ServerUnavailable',
    'StartFailed',
    'StatementFailed',
    'StatementTimeout',
    'TooManyConnections',
    'TransactionRolledBack',
  ],
  'stops until the declaration changes': [
    'AccountUnusable',
    'AlreadyExists',
    'BinariesUnusable',
    'ConfigurationInvalid',
    'DirectoryUnusable',
    'EncodingImmutable',
    'ExtensionNotAvailable',
    'FileNotFound',
    'InsufficientPrivilege',
    'InvalidName',
    'InvalidPassword',
    'InvalidValue',
    'NotOurs',
    'NotSupported',
    'NotUpdatable',
    'SeveralMarked',
    'StatementRefused',
    'SuperuserShutOut',
    'TwoParameterGroups',
    'UnsupportedObjects',
    'VersionMismatch',
  ],
}
