import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import * as s3 from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { ControlFunction } from './control-function.ts'

/**
 * The bucket for dumps of databases. It outlives the stack, as backups should, unless the first deployment fails. Empty
 * it costs nothing.
 */
export class DumpArchive extends Construct {
  readonly bucket: s3.Bucket
  /** For the reconcilers of backups, which read it in functions/reconcilers/backup/reconcilers.ts. */
  readonly environment: Readonly<Record<string, string>>

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.bucket = new s3.Bucket(this, 'Bucket', {
      encryption: s3.BucketEncryption.S3_MANAGED,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      // What a crash in the middle of an upload leaves.
      lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    this.environment = { BACKUP_ARCHIVE: `s3://${this.bucket.bucketName}` }
    acknowledge(this.bucket, 'S1', 'who read which dump is for the trail of the account to say, which logs all buckets')
  }

  /** For the function of Jobs: it stores dumps, and reads none. */
  allowStoring(worker: ControlFunction): void {
    this.allowOnDumps(worker, ['s3:PutObject', 's3:AbortMultipartUpload'])
  }

  /** For the function of BackupPolicies: it removes dumps that are old. */
  allowRemoving(worker: ControlFunction): void {
    worker.allow(['s3:ListBucket'], [this.bucket.bucketArn])
    this.allowOnDumps(worker, ['s3:DeleteObject'])
  }

  private allowOnDumps(worker: ControlFunction, actions: readonly string[]): void {
    worker.allow(actions, [this.bucket.arnForObjects('*')])
    const bucket = Stack.of(this).getLogicalId(this.bucket.node.defaultChild as s3.CfnBucket)
    const rule = `IAM5[Resource::<${bucket}.Arn>/*]`
    if (worker.role !== undefined) acknowledge(worker.role, rule, 'dumps have names of namespaces and policies to come')
  }
}
