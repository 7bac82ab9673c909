// The failure converter of encrypted payloads (platform/temporal/payloadCodec.ts). Temporal's SDK loads it with
// `require`, also from the sources, so it is CommonJS that needs no compiler.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
