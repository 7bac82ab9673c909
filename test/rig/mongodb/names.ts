// What MongoDB 8 knows by name: commands with their fields, operators and stages by where they may stand
// (https://www.mongodb.com/docs/v8.0/reference/). The embedded engine may know more, or ignore what it does not know.

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Fields that every command may have. */
export const fieldsOfAll = words('comment maxTimeMS readConcern writeConcern $readPreference apiVersion');

/** The commands that the service may send, with their own fields. */
export const commands: Record<string, ReadonlySet<string>> = {
  find: words(`filter sort projection hint skip limit batchSize singleBatch max min returnKey showRecordId tailable
    awaitData noCursorTimeout allowPartialResults collation allowDiskUse let`),
  aggregate: words('pipeline explain allowDiskUse cursor bypassDocumentValidation collation hint let'),
  count: words('query limit skip hint collation'),
  distinct: words('key query collation hint'),
  insert: words('documents ordered bypassDocumentValidation'),
  update: words('updates ordered bypassDocumentValidation let'),
  delete: words('deletes ordered let'),
  findAndModify: words(`query sort remove update new fields upsert bypassDocumentValidation collation arrayFilters hint
    let`),
  bulkWrite: words('ops nsInfo ordered errorsOnly bypassDocumentValidation let cursor'),
  getMore: words('collection batchSize'),
  killCursors: words('cursors'),
  commitTransaction: words('recoveryToken'),
  abortTransaction: words('recoveryToken'),
  endSessions: words(''),
  createIndexes: words('indexes commitQuorum'),
  listIndexes: words('cursor'),
  dropIndexes: words('index'),
  collMod: words('index validator validationLevel validationAction cappedSize cappedMax dryRun'),
  create: words('capped size max validator validationLevel validationAction collation expireAfterSeconds'),
  drop: words(''),
  dropDatabase: words(''),
  listCollections: words('filter nameOnly authorizedCollections cursor'),
  listDatabases: words('filter nameOnly authorizedDatabases'),
  hello: words(
    'topologyVersion maxAwaitTimeMS helloOk backpressure client compression saslSupportedMechs loadBalanced',
  ),
  ismaster: words(
    'topologyVersion maxAwaitTimeMS helloOk backpressure client compression saslSupportedMechs loadBalanced',
  ),
  ping: words(''),
  buildInfo: words(''),
  setParameter: words('transactionLifetimeLimitSeconds'),
  replSetGetConfig: words(''),
  replSetInitiate: words(''),
  replSetReconfig: words('force'),
};

/** The fields of one statement of a command. */
export const statements: Record<string, ReadonlySet<string>> = {
  updates: words('q u c upsert multi collation arrayFilters hint sort'),
  deletes: words('q limit collation hint'),
  'bulkWrite insert': words('kind collection document'),
  'bulkWrite update': words('kind collection filter updateMods multi upsert arrayFilters hint constants collation'),
  'bulkWrite delete': words('kind collection filter multi hint collation'),
};

export const inTransactions = words(`find aggregate distinct insert update delete findAndModify bulkWrite getMore
  killCursors commitTransaction abortTransaction`);
export const endsTransaction = words('commitTransaction abortTransaction');
export const forAdmin = words('commitTransaction abortTransaction bulkWrite setParameter');

/** The levels of read concern by command, outside of transactions. */
export const readConcerns: Record<string, ReadonlySet<string>> = {
  find: words('local available majority linearizable snapshot'),
  aggregate: words('local available majority linearizable snapshot'),
  distinct: words('local available majority linearizable snapshot'),
  count: words('local available majority linearizable'),
};
export const readConcernsInTransactions = words('local majority snapshot');

export const topOperators = words('$and $or $nor $expr $text $where $comment $jsonSchema $sampleRate');
export const fieldOperators = words(`$eq $ne $gt $gte $lt $lte $in $nin $exists $type $not $all $elemMatch $size $mod
  $regex $options $bitsAllSet $bitsAnySet $bitsAllClear $bitsAnyClear $geoWithin $geoIntersects $near $nearSphere
  $maxDistance $minDistance`);
/** Operators whose value is a list of conditions, which must not be empty. */
export const listsOfFilters = words('$and $or $nor');
export const inPartialFilters = words('$eq $exists $gt $gte $lt $lte $type $and $or $in');

export const updateOperators = words(`$currentDate $inc $min $max $mul $rename $set $setOnInsert $unset $addToSet $pop
  $pull $push $pullAll $bit`);
export const pushModifiers = words('$each $slice $sort $position');
export const updateStages = words('$addFields $set $project $unset $replaceRoot $replaceWith');

export const projectionOperators = words('$elemMatch $slice $meta');

export const stages = words(`$addFields $bucket $bucketAuto $changeStream $collStats $count $currentOp $densify
  $documents $facet $fill $geoNear $graphLookup $group $indexStats $limit $lookup $match $merge $out $project $queryStats
  $redact $replaceRoot $replaceWith $sample $set $setWindowFields $skip $sort $sortByCount $unionWith $unset $unwind`);
export const stagesOutsideTransactions = words('$collStats $currentOp $indexStats $merge $out $changeStream');

export const expressionOperators = words(`$abs $accumulator $acos $acosh $add $addToSet $allElementsTrue $and
  $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan $atan2 $atanh $avg $binarySize $bitAnd $bitNot $bitOr
  $bitXor $bottom $bottomN $bsonSize $ceil $cmp $concat $concatArrays $cond $convert $cos $cosh $count $dateAdd $dateDiff
  $dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek $dayOfYear
  $degreesToRadians $divide $eq $exp $filter $first $firstN $floor $function $getField $gt $gte $hour $ifNull $in
  $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber $isoDayOfWeek $isoWeek $isoWeekYear $last $lastN $let $literal
  $ln $log $log10 $lt $lte $ltrim $map $max $maxN $median $mergeObjects $meta $millisecond $min $minN $minute $mod $month
  $multiply $ne $not $objectToArray $or $percentile $pow $push $radiansToDegrees $rand $range $reduce $regexFind
  $regexFindAll $regexMatch $replaceAll $replaceOne $reverseArray $round $rtrim $sampleRate $second $setDifference
  $setEquals $setField $setIntersection $setIsSubset $setUnion $sin $sinh $size $slice $sortArray $split $sqrt $stdDevPop
  $stdDevSamp $strcasecmp $strLenBytes $strLenCP $substr $substrBytes $substrCP $subtract $sum $switch $tan $tanh
  $toBool $toDate $toDecimal $toDouble $toInt $toLong $toLower $toObjectId $toString $toUpper $toUUID $top $topN $trim
  $trunc $tsIncrement $tsSecond $type $unsetField $week $year $zip`);

export const indexOptions = words(`key name v unique sparse partialFilterExpression expireAfterSeconds hidden collation
  storageEngine weights default_language language_override textIndexVersion 2dsphereIndexVersion bits min max
  wildcardProjection background`);
export const collModIndexFields = words('name keyPattern expireAfterSeconds hidden unique prepareUnique');
