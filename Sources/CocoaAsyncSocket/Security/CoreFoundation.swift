import Foundation

/// Names of Core Foundation, which Linux does not have, that code around certificates uses; each is bridged to the same
/// Swift type as there.
public typealias CFString = NSString
/// A Core Foundation name.
public typealias CFData = NSData
/// A Core Foundation name.
public typealias CFArray = NSArray
/// A Core Foundation name.
public typealias CFDictionary = NSDictionary
/// A Core Foundation name.
public typealias CFError = NSError
/// A Core Foundation name.
public typealias CFIndex = Int
/// A Core Foundation name; only nil is of use.
public typealias CFAllocator = NSObject
/// A result of the Security framework.
public typealias OSStatus = Int32
/// A pointer of an out-parameter, as Swift imports it where there is Objective-C.
public typealias AutoreleasingUnsafeMutablePointer = UnsafeMutablePointer
