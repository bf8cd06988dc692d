import * as z from 'zod'
import { defineKind } from '../../../shared/index.ts'

const deletionPolicy = z
  .enum(['Delete', 'Retain'])
  .default('Delete')
  .describe(
    'Delete: what was made goes with the object. Retain: it stays, and an object of the same name finds it again.',
  )

/** Names as PostgreSQL takes them without surprises: folded to lower case, 63 bytes at most. */
const identifier = z
  .string()
  .max(63)
  .regex(/^[a-z_][a-z0-9_]*$/)

const secretRef = z.object({ name: z.string() })

export const PostgresCluster = defineKind({
  group: 'postgres.setpoint.dev',
  version: 'v1alpha1',
  kind: 'PostgresCluster',
  shortNames: ['pgc'],
  categories: ['all', 'postgres'],
  description: 'A PostgreSQL server of your own: started, kept as declared, and stopped when it is deleted.',
  spec: z.object({
    instances: z.number().int().min(1).max(1).default(1).describe('How many servers; one for now.'),
    port: z
      .number()
      .int()
      .min(1024)
      .max(65535)
      .optional()
      .describe('TCP port. Left out: on this machine a free one is chosen once and kept; on AWS it is 5432.'),
    class: z
      .enum(['small', 'medium', 'large'])
      .optional()
      .describe('How much of a machine, on AWS: 2 GiB of memory, 8 or 32. Default small.'),
    storageGiB: z.number().int().min(20).max(65536).optional().describe('Storage on AWS; it only grows. Default 20.'),
    version: z
      .string()
      .regex(/^\d{2}$/)
      .optional()
      .describe('Major version of PostgreSQL on AWS, of a new server. Default 17.'),
    aws: z
      .object({
        instanceClass: z.string().optional().describe('A class of RDS, such as db.m7g.large, in place of class.'),
        subnetGroup: z.string().optional().describe('DB subnet group, of a new server.'),
        securityGroups: z.array(z.string()).optional().describe('VPC security groups.'),
        parameterGroup: z.string().optional().describe('A DB parameter group, in place of parameters.'),
      })
      .optional()
      .describe('What only RDS knows. Left out, it is as the environment of the functions says.'),
    parameters: z
      .record(z.string(), z.string())
      .default({})
      .describe('Settings of postgresql.conf, for example max_connections: "100".'),
    deletionPolicy,
  }),
  status: z.object({
    host: z.string(),
    port: z.number().int(),
    version: z.string(),
    programs: z.string().optional().describe('Which PostgreSQL of this machine runs it. Left out on AWS.'),
    startedAt: z.string().optional().describe('When the server was last started. Its databases look again then.'),
    restarts: z.number().int().optional().describe('How often the server had ended by itself and was started again.'),
    secretRef: secretRef.describe('The Secret with the superuser: username, password, host, port.'),
  }),
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'Port', type: 'integer', jsonPath: '.status.port' },
  ],
})

export const PostgresDatabase = defineKind({
  group: 'postgres.setpoint.dev',
  version: 'v1alpha1',
  kind: 'PostgresDatabase',
  shortNames: ['pgdb'],
  categories: ['all', 'postgres'],
  description: 'A database and the role that owns it, on a PostgresCluster, with a Secret to log in by.',
  spec: z.object({
    clusterRef: z
      .object({ name: z.string().min(1) })
      .describe('The PostgresCluster, in the same namespace. A database does not move to another one.'),
    database: identifier
      .optional()
      .describe('Default: the name of the object, with - as _. The database is renamed when this changes.'),
    role: identifier
      .optional()
      .describe('The owner, who may log in. Default: the name of the database. The role is renamed when this changes.'),
    connectionLimit: z.number().int().min(-1).default(-1).describe('Connections of the role at once; -1 is no limit.'),
    extensions: z.array(z.string()).default([]).describe('Extensions to install, by name.'),
    grants: z
      .array(z.object({ role: identifier, privileges: z.array(z.enum(['CONNECT', 'CREATE', 'TEMPORARY'])).min(1) }))
      .default([])
      .describe('Privileges on the database for other roles of the cluster.'),
    deletionPolicy,
  }),
  status: z.object({
    database: z.string(),
    role: z.string(),
    secretRef: secretRef.describe('The Secret to log in by: url, host, port, database, username, password.'),
  }),
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterRef.name' },
    { name: 'Database', type: 'string', jsonPath: '.status.database' },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretRef.name' },
  ],
})
