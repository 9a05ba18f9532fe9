import Foundation

/// Core Foundation names that certificate code uses. Linux has no Core Foundation, so each name stands for a Foundation
/// type that it bridges to on Apple's platforms.
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
/// A Core Foundation name. Only `nil` is useful.
public typealias CFAllocator = NSObject
/// A result code of the Security framework.
public typealias OSStatus = Int32
/// The pointer type of out-parameters, as Swift imports it on platforms with Objective-C.
public typealias AutoreleasingUnsafeMutablePointer = UnsafeMutablePointer
